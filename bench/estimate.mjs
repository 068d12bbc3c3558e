// What the estimates from a model's file say against what its engine takes: buffer by buffer over a
// grid of settings, then what a server books against what the whole process holds.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import {
  estimate,
  measuredLoad,
  settingsKey,
  totalsOf,
} from "../packages/server/dist/memory/estimate/index.js";
import { enginePid } from "./lib/bare.mjs";
import { memoryStatus, moveTo, post } from "./lib/calls.mjs";
import { loadEngine } from "./lib/engine-load.mjs";
import { memoryOf } from "./lib/engine-memory.mjs";
import { installed } from "./lib/installed.mjs";
import { startSomnus } from "./lib/server.mjs";

const CONTEXTS = [2048, 8192, 32_768];
const SLOTS = [1, 4];
const CACHE_TYPES = ["f16", "q8_0"];
const BATCHES = [128, 512, 2048];
/** As `launchFlags` bounds it. */
const LARGEST_PHYSICAL_BATCH = 512;
const SERVED = { contextTokens: 2048, slots: 1 };
const KEPT_AFTER_MS = 1_500;
const MIB = 2 ** 20;
const THREADS = Math.max(1, Math.min(2, availableParallelism()));

/** Prints the tables of every installed model. */
export async function run() {
  const { engine, models } = await installed();
  for (const model of models) {
    console.log(`\n${model.name} (${model.gguf.architecture}), MiB, estimate / measured`);
    await grid(engine, model);
    if (isEncoder(model.gguf)) continue;
    await served(model);
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

/**
 * What a server books for a model, against what its engine holds once it is loaded, and after work: at the first
 * load, at a second one of the same server, and at one of a later server with the same store.
 */
async function served(model) {
  const folder = await mkdtemp(join(tmpdir(), "somnus-bench-"));
  const file = join(folder, "somnus.toml");
  await writeFile(
    file,
    [
      "config_version = 1",
      "[paths]",
      `data_dir = ${JSON.stringify(folder)}`,
      "[[models]]",
      'id = "m"',
      `weights_path = ${JSON.stringify(model.path)}`,
      "allow_untested = true",
      `slots = ${SERVED.slots}`,
      `context_len = ${SERVED.contextTokens}`,
      'initial_tier = "tier3_nvme_ssd"',
      "",
    ].join("\n"),
  );
  console.log(
    "load".padEnd(16) + ["loaded", "worked", "off"].map((cell) => cell.padStart(20)).join(""),
  );
  try {
    for (const loads of [["first", "second"], ["after a restart"]]) {
      const somnus = await startSomnus({ file });
      try {
        for (const load of loads) {
          const { booked, loaded, worked } = await loadAndWork(somnus);
          console.log(
            load.padEnd(16) +
              [
                both(booked, loaded),
                both(booked, worked),
                `${percent(booked, worked).toFixed(1)} %`,
              ]
                .map((cell) => cell.padStart(20))
                .join(""),
          );
        }
      } finally {
        await somnus.stop();
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function loadAndWork({ url, pid }) {
  await moveTo(url, "m", "tier1_gpu_vram");
  const booked = (await memoryStatus(url)).models[0].booked_bytes;
  // What a load has shown is measured and kept behind the scenes.
  await new Promise((resolve) => setTimeout(resolve, KEPT_AFTER_MS));
  const engine = enginePid(pid);
  const loaded = memoryOf(engine).total;
  await post(url, "/v1/chat/completions", {
    model: "m",
    messages: [{ role: "user", content: "word ".repeat(SERVED.contextTokens / 4) }],
    max_tokens: 8,
  });
  const worked = memoryOf(engine).total;
  await moveTo(url, "m", "tier3_nvme_ssd");
  return { booked, loaded, worked };
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
