import type { LoadPlan, ModelSpec } from "../engine.js";

/** Where the server listens, as its flags spell it. */
export type Listen = { kind: "socket"; path: string } | { kind: "loopback"; host: string };

export interface LaunchSettings {
  listen: Listen;
  /** Compute threads, for prompts and for generation. */
  threads: number;
  /** Tokens of one prefill batch. */
  batch: number;
}

/** Room for the slots' streams, for as many streams that were just cut, and for short requests. */
const HTTP_THREADS_BESIDE_SLOTS = 4;

/** llama.cpp's own default: a physical batch above it costs memory and brings little. */
const LARGEST_PHYSICAL_BATCH = 512;

/** Tokens that one picture may take: with a projector, a physical batch must hold a whole one. */
const PICTURE_TOKENS = 2048;

/**
 * The command line of llama-server for one model. Every number that decides memory is given, so
 * that nothing is left to the program's own judgement.
 */
export function launchFlags(model: ModelSpec, plan: LoadPlan, settings: LaunchSettings): string[] {
  const { listen, threads, batch } = settings;
  const flags = [
    ...["--model", model.weightsPath],
    ...(listen.kind === "socket"
      ? ["--host", listen.path]
      : ["--host", listen.host, "--port", "0"]),
    "--offline",
    "--no-ui",
    "--no-slots",
    "--jinja",
    ...["--fit", "off"],
    "--kv-unified",
    "--no-cache-idle-slots",
    ...["--cache-ram", "0"],
    ...["--ctx-size", String(plan.contextTokens)],
    ...["--parallel", String(plan.slots)],
    ...["--gpu-layers", plan.gpuLayers === "auto" ? "all" : String(plan.gpuLayers)],
    ...["--threads", String(threads)],
    ...["--threads-batch", String(threads)],
    ...["--threads-http", String(2 * plan.slots + HTTP_THREADS_BESIDE_SLOTS)],
    ...["--batch-size", String(logicalBatch(model, batch))],
    ...["--ubatch-size", String(physicalBatch(model, batch))],
    // Silence is ours to judge, and a comment line would only wake us.
    ...["--sse-ping-interval", "-1"],
    // Level 4 is the first that names the phases and the buffers of a load.
    ...["--verbosity", "4"],
  ];
  if (plan.cpuExpertLayers > 0) flags.push("--n-cpu-moe", String(plan.cpuExpertLayers));
  if (plan.cacheTypeK !== undefined) flags.push("--cache-type-k", plan.cacheTypeK);
  if (plan.cacheTypeV !== undefined) flags.push("--cache-type-v", plan.cacheTypeV);
  if (model.projectorPath !== undefined) flags.push("--mmproj", model.projectorPath);
  return flags;
}

function logicalBatch(model: ModelSpec, batch: number): number {
  return model.projectorPath === undefined ? batch : Math.max(batch, PICTURE_TOKENS);
}

function physicalBatch(model: ModelSpec, batch: number): number {
  if (model.projectorPath !== undefined) return PICTURE_TOKENS;
  return Math.min(batch, LARGEST_PHYSICAL_BATCH);
}

/** Flags that a build must have to be run by us; `--help` of the build names them. */
export const NEEDED_FLAGS: readonly string[] = [
  "--model",
  "--host",
  "--port",
  "--offline",
  "--no-ui",
  "--no-slots",
  "--jinja",
  "--fit",
  "--kv-unified",
  "--no-cache-idle-slots",
  "--cache-ram",
  "--ctx-size",
  "--parallel",
  "--gpu-layers",
  "--threads",
  "--threads-batch",
  "--threads-http",
  "--batch-size",
  "--ubatch-size",
  "--sse-ping-interval",
  "--verbosity",
  "--n-cpu-moe",
  "--cache-type-k",
  "--cache-type-v",
  "--mmproj",
];
