// The median time that Somnus adds to the first token of a server that has run for a while. The same
// request again and again, so that the engine finds the prompt in its cache and its own time is
// short and even.
import { engineCommand, startBare } from "./lib/bare.mjs";
import { writeConfig } from "./lib/config.mjs";
import { startSomnus } from "./lib/server.mjs";
import { median, spread } from "./lib/statistics.mjs";
import { streamChat } from "./lib/stream.mjs";

const ROUNDS = 5;
const REQUESTS = 40;
const WARM_UP = 200;

export async function run({ model }) {
  const config = await writeConfig(model, { slots: 4 });
  const somnus = await startSomnus({ file: config.file });
  let bare = null;
  try {
    await streamChat(somnus.url, chat(model));
    bare = await startBare(engineCommand(somnus.pid));
    await streamChat(bare.url, chat(model));
    // The first hundreds of requests are slower everywhere: the code is not compiled yet.
    for (let i = 0; i < WARM_UP; i++) {
      await streamChat(somnus.url, chat(model));
      await streamChat(bare.url, chat(model));
    }
    const added = [];
    for (let round = 0; round < ROUNDS; round++) {
      const times = { somnus: [], bare: [] };
      for (let i = 0; i < REQUESTS; i++) {
        const order = i % 2 === 0 ? ["somnus", "bare"] : ["bare", "somnus"];
        for (const side of order) {
          const { url } = side === "somnus" ? somnus : bare;
          times[side].push((await streamChat(url, chat(model))).ttft);
        }
      }
      added.push(median(times.somnus) - median(times.bare));
    }
    console.log(`added time to first token, median of ${REQUESTS}: ${spread(added, 2)} ms`);
  } finally {
    await bare?.stop();
    await somnus.stop();
    await config.remove();
  }
}

function chat(model) {
  return {
    model,
    messages: [{ role: "user", content: "Say yes." }],
    max_tokens: 4,
    temperature: 0,
  };
}
