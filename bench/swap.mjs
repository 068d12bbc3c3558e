// From a request to its first token when the model is not loaded, against a llama-server that is started
// by hand on the same file with the same flags; then two models in turn where only one fits.
import { engineCommand, startBare } from "./lib/bare.mjs";
import { memoryStatus, moveTo, shortChat } from "./lib/calls.mjs";
import { writeConfig } from "./lib/config.mjs";
import { startSomnus } from "./lib/server.mjs";
import { drop, warm } from "./lib/start-state.mjs";
import { median, spread } from "./lib/statistics.mjs";
import { streamChat } from "./lib/stream.mjs";

const ROUNDS = 5;
const TURNS = 10;
const OTHER = "smollm2:135m";

/** Prints the time to the first token from each tier, and that of ten alternations. */
export async function run({ model }) {
  const commands = await fromEachTier(model);
  const other = model === OTHER ? "qwen2.5-coder:0.5b" : OTHER;
  await alternations(model, other, commands);
}

async function fromEachTier(model) {
  const config = await writeConfig([model], { slots: 4 });
  const somnus = await startSomnus({ file: config.file });
  try {
    await streamChat(somnus.url, shortChat(model));
    const command = engineCommand(somnus.pid);
    const file = command[command.indexOf("--model") + 1];
    const states = {
      "tier 3, not in the page cache": { tier: "tier3_nvme_ssd", prepare: () => drop(file) },
      "tier 3, in the page cache": { tier: "tier3_nvme_ssd", prepare: () => warm(file) },
      "tier 2": { tier: "tier2_pinned_ram", prepare: () => warm(file) },
    };
    for (const [name, { tier, prepare }] of Object.entries(states)) {
      const times = { somnus: [], bare: [] };
      for (let round = 0; round < ROUNDS; round++) {
        await moveTo(somnus.url, model, "tier3_nvme_ssd");
        if ((await prepare()) === false) break;
        times.bare.push(await byHand(command, model));
        if ((await prepare()) === false) break;
        await moveTo(somnus.url, model, tier);
        times.somnus.push((await streamChat(somnus.url, shortChat(model))).ttft);
      }
      if (times.somnus.length === ROUNDS) report(name, times);
      else console.log(`${name}: this machine cannot drop a file from its page cache`);
    }
    const bare = await startBare(command);
    try {
      const times = { somnus: [], bare: [] };
      await streamChat(bare.url, shortChat(model));
      for (let round = 0; round < ROUNDS * 4; round++) {
        times.bare.push((await streamChat(bare.url, shortChat(model))).ttft);
        times.somnus.push((await streamChat(somnus.url, shortChat(model))).ttft);
      }
      report("tier 1", times);
    } finally {
      await bare.stop();
    }
    return { [model]: command };
  } finally {
    await somnus.stop();
    await config.remove();
  }
}

/** Two models take turns where memory is for one: all of it, from the first request to the last token. */
async function alternations(model, other, commands) {
  const models = [model, other];
  const limit = await limitForOne(models, commands);
  const config = await writeConfig(models, {
    slots: 4,
    initial_tier: "tier3_nvme_ssd",
    hardware: { max_process_memory_bytes: limit },
  });
  const somnus = await startSomnus({ file: config.file });
  try {
    await streamChat(somnus.url, shortChat(other));
    const ratios = [];
    const seconds = [];
    for (let round = 0; round < 3; round++) {
      const evictionsBefore = (await memoryStatus(somnus.url)).recent_evictions.length;
      const ours = await timed(async () => {
        for (let turn = 0; turn < TURNS; turn++)
          await streamChat(somnus.url, shortChat(models[turn % 2]));
      });
      const { recent_evictions } = await memoryStatus(somnus.url);
      if (recent_evictions.length === evictionsBefore && round === 0) {
        throw new Error("both models were resident: nothing was swapped");
      }
      const bare = await timed(async () => {
        for (let turn = 0; turn < TURNS; turn++)
          await byHand(commands[models[turn % 2]], models[turn % 2]);
      });
      ratios.push(ours / bare);
      seconds.push(ours / 1_000);
    }
    console.log(
      `${TURNS} requests to two models in turn: ${spread(seconds, 2)} s, ${spread(ratios)} of the same by hand`,
    );
  } finally {
    await somnus.stop();
    await config.remove();
  }
}

/** Memory that holds the larger of the models and not both, from what is booked for each. Bytes. */
async function limitForOne(models, commands) {
  const config = await writeConfig(models, { slots: 4, initial_tier: "tier3_nvme_ssd" });
  const somnus = await startSomnus({ file: config.file });
  try {
    const booked = [];
    for (const model of models) {
      await streamChat(somnus.url, shortChat(model));
      commands[model] ??= engineCommand(somnus.pid);
      booked.push(
        (await memoryStatus(somnus.url)).models.find(({ id }) => id === model).booked_bytes,
      );
      await moveTo(somnus.url, model, "tier3_nvme_ssd");
    }
    const { rss } = await somnus.memory();
    return Math.ceil(rss + Math.max(...booked) + 0.6 * Math.min(...booked));
  } finally {
    await somnus.stop();
    await config.remove();
  }
}

/** Starts the engine, asks as soon as it can serve and ends it; the time to the first token. */
async function byHand(command, model) {
  const start = performance.now();
  const bare = await startBare(command);
  try {
    const before = performance.now() - start;
    return before + (await streamChat(bare.url, shortChat(model))).ttft;
  } finally {
    await bare.stop();
  }
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function report(name, { somnus, bare }) {
  const added = median(somnus) - median(bare);
  console.log(
    `${name}: ${spread(somnus, 0)} ms, by hand ${spread(bare, 0)} ms; ` +
      `ratio ${(median(somnus) / median(bare)).toFixed(3)}, added ${added.toFixed(1)} ms`,
  );
}
