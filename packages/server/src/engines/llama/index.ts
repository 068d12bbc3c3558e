import { type Engine, LoadError, type ModelSpec } from "../engine.js";
import { sweepAddresses } from "../host/index.js";
import { batchSize, PrefillRates } from "./batch-size.js";
import { listDevices } from "./devices.js";
import { physicalBatch } from "./flags.js";
import { loadModel } from "./load.js";
import type { LlamaOptions } from "./options.js";
import { computeThreads, readMachineCpus, threadsOf } from "./threads.js";

export { listDevices } from "./devices.js";
export { CONTEXT_CHECKPOINTS, NEEDED_FLAGS } from "./flags.js";
export { configuredRun, type LlamaOptions } from "./options.js";
export { endOf, startServer } from "./start.js";
export { threadsOf } from "./threads.js";

/** The engine for GGUF text models: one llama-server a loaded model. */
export function createLlamaEngine(options: LlamaOptions): Engine {
  const rates = new PrefillRates();
  const devices = new Map<string, Promise<string[]>>();
  let swept: Promise<void> | undefined;
  // CUDA's own order is by speed; devices are planned for in the order of the bus, as tools list them.
  const env = { CUDA_DEVICE_ORDER: "PCI_BUS_ID", ...process.env };
  const devicesOf = ({ path, version }: { path: string; version: string }): Promise<string[]> => {
    const build = `${path}\0${version}`;
    const asked = devices.get(build) ?? listDevices(path, env);
    devices.set(build, asked);
    return asked;
  };
  const threads = async () => options.threads ?? computeThreads(await readMachineCpus());
  return {
    kind: "llama",
    devices: async () => devicesOf(await options.binary()),
    build: async () => buildOf(await options.binary()),
    threads,
    batchTokens: (model, accelerated, contextTokens) => {
      const usual = batchSize(rates.of(rateKey(model, accelerated)), accelerated);
      return physicalBatch(model, usual, contextTokens);
    },
    async load(model, plan, on, signal) {
      signal.throwIfAborted();
      swept ??= sweepAddresses(options.runtimeDir);
      const [binary] = await Promise.all([options.binary(), swept]);
      const accelerated = plan.gpuLayers !== 0 && (await devicesOf(binary)).length > 0;
      const key = rateKey(model, accelerated);
      const { watch } = options;
      const load = loadModel(
        model,
        plan,
        {
          program: binary.path,
          version: binary.version,
          build: buildOf(binary),
          env,
          threads: plan.threads ?? threadsOf(model, await threads()),
          batch: batchSize(rates.of(key), accelerated),
          // A helper computes beside others: threads that wait busily would starve them, and it.
          waitPolicy: model.makes === undefined ? options.waitPolicy : "passive",
          runtimeDir: options.runtimeDir,
          addressKind: options.addressKind,
          stallMs: options.stallMs,
          loadTimeoutMs: options.loadTimeoutMs,
          log: options.log,
          onPrefill: (tokens, ms) => rates.observe(key, tokens, ms),
        },
        on,
        signal,
      );
      if (watch === undefined) return load;
      try {
        const loaded = await load;
        watch.ready(binary.path);
        void loaded.exited.then((exit) => watch.ended(binary.path, exit, "run"));
        return loaded;
      } catch (error) {
        if (error instanceof LoadError) watch.ended(binary.path, error.exit, "load");
        throw error;
      }
    },
  };
}

function buildOf({ version, digest }: { version: string; digest?: string }): string {
  return digest === undefined ? version : `${version} ${digest}`;
}

/** What a prefill rate belongs to: how many layers are where is settled only when a load begins. */
function rateKey(model: ModelSpec, accelerated: boolean): string {
  return `${model.weightsPath}\0${accelerated}`;
}
