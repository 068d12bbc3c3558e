// What the estimates from a model's file say against what its engine takes: buffer by buffer over a
// grid of settings, then the whole process after work, at the first load and at a second one.
import { availableParallelism } from "node:os";
import {
  correct,
  estimate,
  measuredLoad,
  settingsKey,
  totalsOf,
} from "../packages/server/dist/memory/estimate/index.js";
import { loadEngine } from "./lib/engine-load.mjs";
import { installed } from "./lib/installed.mjs";

const CONTEXTS = [2048, 8192, 32_768];
const SLOTS = [1, 4];
const CACHE_TYPES = ["f16", "q8_0"];
const BATCHES = [128, 512, 2048];
/** As `launchFlags` bounds it. */
const LARGEST_PHYSICAL_BATCH = 512;
const WORKED = { contextTokens: 2048, slots: 1, cacheType: "f16", batch: 512 };
const MIB = 2 ** 20;
const THREADS = Math.max(1, Math.min(2, availableParallelism()));

/** Prints the tables of every installed model. */
export async function run() {
  const { engine, models } = await installed();
  for (const model of models) {
    console.log(`\n${model.name} (${model.gguf.architecture}), MiB, estimate / measured`);
    await grid(engine, model);
    await worked(engine, model);
  }
}

async function grid(engine, model) {
  console.log(row(["context", "slots", "cache", "batch", "weights", "KV", "compute", "process"]));
  const worst = { weights: 0, kv: 0, compute: 0 };
  for (const settings of combinations()) {
    const wanted = want(settings);
    const estimated = estimate(model.gguf, wanted, { devices: 0, threads: THREADS });
    const totals = totalsOf(estimated);
    const server = await start(engine, model, settings);
    try {
      const buffers = server.buffers();
      const load = measured(engine, model, settings, estimated, server);
      const weights = buffers.model - buffers.repacked;
      const kv = buffers.KV + buffers.RS;
      worst.weights = Math.max(worst.weights, off(totals.weights, weights));
      worst.kv = Math.max(worst.kv, off(totals.kv, kv));
      worst.compute = Math.max(
        worst.compute,
        Math.abs(percent(estimated.compute.host, buffers.compute)),
      );
      console.log(
        row([
          ...Object.values(settings),
          both(totals.weights, weights),
          both(totals.kv, kv),
          both(estimated.compute.host, buffers.compute),
          both(totals.process, load.process.host),
        ]),
      );
    } finally {
      await server.stop();
    }
  }
  console.log(
    `most that is off: weights ${worst.weights} bytes, KV ${worst.kv} bytes (as far as the log tells them), ` +
      `compute ${worst.compute.toFixed(2)} %`,
  );
}

/** All that the process holds once its context and a whole batch were used. */
async function worked(engine, model) {
  const estimated = estimate(model.gguf, want(WORKED), { devices: 0, threads: THREADS });
  const history = [];
  for (const load of ["first", "second"]) {
    const key = keyOf(engine, model, WORKED);
    const expected = totalsOf(correct(estimated, history, key)).total;
    const server = await start(engine, model, WORKED);
    try {
      history.push(measured(engine, model, WORKED, estimated, server));
      await work(server.url, isEncoder(model.gguf));
      const { total } = server.memory();
      console.log(
        `${load} load, after work: ${both(expected, total)} MiB, ${percent(expected, total).toFixed(1)} %`,
      );
    } finally {
      await server.stop();
    }
  }
}

function* combinations() {
  for (const contextTokens of CONTEXTS)
    for (const slots of SLOTS)
      for (const cacheType of CACHE_TYPES)
        for (const batch of BATCHES) yield { contextTokens, slots, cacheType, batch };
}

function want({ contextTokens, slots, cacheType, batch }) {
  const batchTokens = Math.min(batch, LARGEST_PHYSICAL_BATCH);
  return { contextTokens, slots, cacheTypeK: cacheType, cacheTypeV: cacheType, batchTokens };
}

function start(engine, { path, gguf }, settings) {
  return loadEngine(
    engine.path,
    { path, gguf, encoder: isEncoder(gguf) },
    { ...settings, threads: THREADS },
  );
}

function isEncoder(gguf) {
  return gguf.attention.causal === false;
}

function keyOf(engine, model, settings) {
  return {
    modelDigest: model.name,
    engineBuild: engine.version,
    settings: settingsKey({
      ...want(settings),
      gpuLayers: 0,
      cpuExpertLayers: 0,
      projector: false,
      threads: THREADS,
    }),
  };
}

function measured(engine, model, settings, estimated, server) {
  const buffers = server.buffers();
  const memory = server.memory();
  const onHost = (host) => ({ device: 0, host });
  return measuredLoad(
    keyOf(engine, model, settings),
    estimated,
    {
      privateBytes: memory.private,
      mappedBytes: memory.mapped,
      deviceBytes: null,
      buffers: {
        weights: onHost(buffers.model),
        kv: onHost(buffers.KV + buffers.RS),
        compute: onHost(buffers.compute),
        output: onHost(buffers.output),
      },
    },
    Date.now(),
  );
}

/** One prompt that fills the context, or the longest input of an encoder. */
async function work(url, encoder) {
  const tokens = (count) => Array.from({ length: count }, (_, at) => 1000 + ((at * 7) % 20_000));
  const response = await fetch(`${url}/${encoder ? "embeddings" : "completion"}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(
      encoder
        ? { input: tokens(LARGEST_PHYSICAL_BATCH - 8) }
        : { prompt: tokens(WORKED.contextTokens - 32), n_predict: 8, cache_prompt: false },
    ),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  await response.text();
}

/** Bytes that an estimate is off, as far as two digits of a MiB can tell. */
function off(estimated, inLog) {
  const difference = Math.abs(estimated - inLog);
  return difference <= 0.0101 * MIB ? 0 : Math.round(difference);
}

function percent(estimated, found) {
  return found === 0 ? 0 : (estimated / found - 1) * 100;
}

function both(estimated, found) {
  return `${(estimated / MIB).toFixed(2)} / ${(found / MIB).toFixed(2)}`;
}

function row(cells) {
  return cells.map((cell, at) => String(cell).padStart(at < 4 ? 8 : 20)).join("");
}
