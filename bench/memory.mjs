// What an idle server holds, and what a request leaves behind in the heap.
import { writeConfig } from "./lib/config.mjs";
import { startSomnus } from "./lib/server.mjs";

const REQUESTS = 5_000;
const AT_ONCE = 4;
const IDLE_MS = 6_000;

/** Prints what an idle server holds and what requests leave behind. */
export async function run({ model }) {
  const config = await writeConfig(model, { slots: AT_ONCE, initial_tier: "tier3_nvme_ssd" });
  const somnus = await startSomnus({ file: config.file });
  const MiB = 2 ** 20;
  try {
    // What its start has left in the heap is given back once it has been idle for two looks.
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const idle = await somnus.memory();
    console.log(`idle: RSS ${(idle.rss / MiB).toFixed(1)} MiB`);
    await many(somnus.url, model, 500);
    const before = await somnus.memory();
    const started = performance.now();
    await many(somnus.url, model, REQUESTS);
    const seconds = (performance.now() - started) / 1000;
    const after = await somnus.memory();
    const each = (after.heapUsed - before.heapUsed) / REQUESTS;
    console.log(
      `${REQUESTS} requests in ${seconds.toFixed(0)} s: heap ${each.toFixed(1)} bytes a request; ` +
        `RSS ${(before.rss / MiB).toFixed(1)} -> ${(after.rss / MiB).toFixed(1)} MiB`,
    );
  } finally {
    await somnus.stop();
    await config.remove();
  }
}

async function many(url, model, count) {
  let left = count;
  const worker = async () => {
    while (left-- > 0) {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          model,
          messages: [{ role: "user", content: "Hi" }],
          max_tokens: 1,
          stream: left % 2 === 0,
        }),
      });
      await response.text();
      if (!response.ok) throw new Error(`${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
