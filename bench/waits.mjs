// How far the wait that a request is told at its arrival is from the wait that it had: for requests that
// all take about the same, and for a mix of short and long ones.
import { writeConfig } from "./lib/config.mjs";
import { startSomnus } from "./lib/server.mjs";
import { quantile } from "./lib/statistics.mjs";
import { randomFrom } from "./residency/random.mjs";

const SLOTS = 2;
const CLIENTS = 5;
const REQUESTS = 48;
/** The first ones, of which nothing was known, left out. */
const WARM_UP = 10;
/** No more requests are sent after that, of each kind, and none may take longer than the other. */
const MOST_MS = 35_000;
const REQUEST_MS = 30_000;
/** Shorter waits, told or real, are a matter of the clock. */
const LEAST_MS = 10;

const FIXED = [{ words: 40, tokens: 32 }];
const MIXED = [
  { words: 20, tokens: 8 },
  { words: 60, tokens: 64 },
  { words: 200, tokens: 96 },
];

/** Prints p50 and p90 of the error for both. */
export async function run({ model }) {
  const config = await writeConfig([model], { slots: SLOTS });
  const somnus = await startSomnus({ file: config.file });
  try {
    for (const [name, kinds] of Object.entries({ "fixed length": FIXED, "mixed lengths": MIXED })) {
      const waits = await measure(somnus.url, model, kinds);
      const errors = waits
        .filter(({ told, real }) => Math.max(told, real) >= LEAST_MS)
        .map(({ told, real }) => Math.abs(told - real) / Math.max(LEAST_MS, real));
      const percent = (q) => `${(100 * quantile(errors, q)).toFixed(0)} %`;
      if (errors.length === 0) {
        console.log(`${name}: no waits within ${MOST_MS / 1_000} s`);
        continue;
      }
      const usual = quantile(
        waits.map(({ real }) => real),
        0.5,
      );
      console.log(
        `${name}: ${errors.length} waits of ${usual.toFixed(0)} ms in the median, ` +
          `error p50 ${percent(0.5)}, p90 ${percent(0.9)}`,
      );
    }
  } finally {
    await somnus.stop();
    await config.remove();
  }
}

async function measure(url, model, kinds) {
  const { next: random } = randomFrom(5);
  const waits = [];
  let sent = 0;
  const until = performance.now() + MOST_MS;
  const client = async () => {
    while (sent < REQUESTS + WARM_UP && performance.now() < until) {
      const number = sent++;
      const wait = await ask(url, model, kinds[Math.floor(random() * kinds.length)], number);
      if (number >= WARM_UP && wait !== null) waits.push(wait);
      await new Promise((resolve) => setTimeout(resolve, 400 * random()));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return waits;
}

/** One request with a prompt of its own, and what it was told; null where nothing was. */
async function ask(url, model, { words, tokens }, number) {
  const content = `${number}: write a long story. ${"and then ".repeat(words / 2)}`;
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    signal: AbortSignal.timeout(REQUEST_MS),
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model,
      messages: [{ role: "user", content }],
      max_tokens: tokens,
      temperature: 0,
    }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error.message);
  const told = response.headers.get("x-hypnos-estimated-wait-ms");
  const { engine, tier_switch_latency_ms: load } = answer.hypnos_telemetry;
  return told === null ? null : { told: Number(told), real: engine.queue_ms + load };
}
