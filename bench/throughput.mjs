// Tokens a second, time to first token and gaps between chunks, through Somnus and from a bare
// llama-server with the same flags, in turn, as ratios and differences of pairs.
import { withBoth } from "./lib/both.mjs";
import { median, quantile, spread } from "./lib/statistics.mjs";
import { streamChat } from "./lib/stream.mjs";

const STREAMS = [1, 4, 8];
const PAIRS = 5;
const TOKENS = 96;

/** Prints ratios and differences for each number of streams. */
export async function run({ model }) {
  await withBoth(model, { slots: 8, warmUp: chat(model, 0, 0) }, async ({ somnus, bare }) => {
    // The code that each token passes is compiled only after it has run for a while.
    // Both, so that both hold as many old conversations: what is held makes every step a little longer.
    for (const { url } of [somnus, bare]) await load(url, model, 8, 0);
    let round = 1;
    for (const streams of STREAMS) {
      const ratios = [];
      const ttfts = [];
      const gaps = [];
      for (let pair = 0; pair < PAIRS; pair++) {
        const order = pair % 2 === 0 ? [somnus, bare] : [bare, somnus];
        const results = new Map();
        for (const server of order) {
          results.set(server, await load(server.url, model, streams, round));
        }
        round++;
        const [a, b] = [results.get(somnus), results.get(bare)];
        ratios.push(a.rate / b.rate);
        ttfts.push(a.ttft - b.ttft);
        gaps.push(a.gap99 - b.gap99);
      }
      console.log(
        `${streams} stream${streams > 1 ? "s" : ""}: tokens/s ratio ${spread(ratios)}; ` +
          `added ttft ms ${spread(ttfts, 1)}; added p99 gap ms ${spread(gaps, 1)}`,
      );
    }
  });
}

async function load(url, model, streams, round) {
  const start = performance.now();
  const answers = await Promise.all(
    Array.from({ length: streams }, (_, i) => streamChat(url, chat(model, round, i))),
  );
  const seconds = (performance.now() - start) / 1000;
  return {
    rate: answers.reduce((sum, answer) => sum + answer.tokens, 0) / seconds,
    ttft: median(answers.map((answer) => answer.ttft)),
    gap99: quantile(
      answers.flatMap((answer) => answer.gaps),
      0.99,
    ),
  };
}

/** Every request starts in its own way, so that no cache helps either side. */
function chat(model, round, index) {
  return {
    model,
    messages: [
      { role: "system", content: `${round}-${index} is the number of this talk.` },
      { role: "user", content: `Count slowly from ${round} to ${round + 200}, in words.` },
    ],
    max_tokens: TOKENS,
    temperature: 0,
  };
}
