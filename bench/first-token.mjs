// The median time that Somnus adds to the first token of a server that has run for a while. The same
// request again and again, so that the engine finds the prompt in its cache and its own time is
// short and even.
import { withBoth } from "./lib/both.mjs";
import { shortChat } from "./lib/calls.mjs";
import { median, spread } from "./lib/statistics.mjs";
import { streamChat } from "./lib/stream.mjs";

const ROUNDS = 5;
const REQUESTS = 40;
const WARM_UP = 200;

/** Prints the added time of each round. */
export async function run({ model }) {
  await withBoth(model, { slots: 4, warmUp: shortChat(model) }, async (servers) => {
    // The first hundreds of requests are slower everywhere: the code is not compiled yet.
    for (let i = 0; i < WARM_UP; i++) {
      for (const { url } of Object.values(servers)) await streamChat(url, shortChat(model));
    }
    const added = [];
    for (let round = 0; round < ROUNDS; round++) {
      const times = { somnus: [], bare: [] };
      for (let i = 0; i < REQUESTS; i++) {
        const order = i % 2 === 0 ? ["somnus", "bare"] : ["bare", "somnus"];
        for (const side of order) {
          times[side].push((await streamChat(servers[side].url, shortChat(model))).ttft);
        }
      }
      added.push(median(times.somnus) - median(times.bare));
    }
    console.log(`added time to first token, median of ${REQUESTS}: ${spread(added, 2)} ms`);
  });
}
