// Embeddings through Somnus against the same engine by hand, alone and beside a chat that streams.
import { engineCommand, enginePid, startBare } from "./lib/bare.mjs";
import { post } from "./lib/calls.mjs";
import { writeConfig } from "./lib/config.mjs";
import { memoryOf } from "./lib/engine-memory.mjs";
import { startSomnus } from "./lib/server.mjs";
import { median, quantile, spread } from "./lib/statistics.mjs";
import { streamChat } from "./lib/stream.mjs";

const EMBEDDER = "all-minilm:l6-v2";
const ROUNDS = 3;
const SERIAL = 100;
const TEXTS = 64;

const sentence = (at) => `Sentence number ${at} tells of a cat that sits outside.`;

/** Duration of each call, ms. */
async function calls(url, count, texts) {
  const took = [];
  for (let at = 0; at < count; at++) {
    const input = Array.from({ length: texts }, (_, nth) => sentence(at * texts + nth));
    const startedAt = performance.now();
    await post(url, "/v1/embeddings", { model: EMBEDDER, input, encoding_format: "base64" });
    took.push(performance.now() - startedAt);
  }
  return took;
}

const perSecond = (took, texts) =>
  (took.length * texts * 1000) / took.reduce((sum, ms) => sum + ms, 0);

const line = (name, took, texts) =>
  console.log(
    `${name}: ${perSecond(took, texts).toFixed(0)} texts/s, a request p50 ${median(took).toFixed(1)} ms, p99 ${quantile(took, 0.99).toFixed(1)} ms`,
  );

/** Prints texts a second and the ratio to the bare engine, then what a chat and embeddings leave each other. */
export async function run({ model }) {
  await alone();
  await besideChat(model);
}

async function alone() {
  const config = await writeConfig(EMBEDDER, { slots: 4 });
  const somnus = await startSomnus({ file: config.file });
  try {
    const bare = await startBare(engineCommand(somnus.pid));
    try {
      for (const [name, count, texts] of [
        ["one text a request", SERIAL, 1],
        [`${TEXTS} texts a request`, 8, TEXTS],
      ]) {
        const ratios = [];
        let last = [];
        for (let round = 0; round < ROUNDS; round++) {
          const theirs = await calls(bare.url, count, texts);
          last = await calls(somnus.url, count, texts);
          ratios.push(perSecond(last, texts) / perSecond(theirs, texts));
        }
        line(name, last, texts);
        console.log(`  ratio to the bare engine ${spread(ratios)}`);
      }
    } finally {
      await bare.stop();
    }
    const words = "word ".repeat(500).trim();
    await post(somnus.url, "/v1/embeddings", { model: EMBEDDER, input: [words, words] });
    const { total } = memoryOf(enginePid(somnus.pid));
    console.log(`the engine holds ${(total / 2 ** 20).toFixed(1)} MiB after a full batch`);
  } finally {
    await somnus.stop();
    await config.remove();
  }
}

async function besideChat(model) {
  const config = await writeConfig([EMBEDDER, model], { slots: 4 });
  const somnus = await startSomnus({ file: config.file });
  try {
    const chat = () =>
      streamChat(somnus.url, {
        model,
        messages: [{ role: "user", content: "Count from 1 to 500." }],
        max_tokens: 200,
        temperature: 0,
      });
    const rate = ({ last }) => last.hypnos_telemetry.engine.decode_tokens_per_s.toFixed(1);
    await chat();
    console.log(`a chat alone: ${rate(await chat())} tokens/s`);
    const stream = chat();
    let runs = true;
    void stream.then(() => {
      runs = false;
    });
    const took = [];
    while (runs) took.push(...(await calls(somnus.url, 1, 1)));
    line("one text a request beside a chat", took, 1);
    console.log(`the chat beside it: ${rate(await stream)} tokens/s`);
  } finally {
    await somnus.stop();
    await config.remove();
  }
}
