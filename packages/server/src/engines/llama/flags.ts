import { EXPERT_TENSORS, type GgufSummary } from "../../gguf/index.js";
import { SomnusError } from "../../http/errors.js";
import type { LoadPlan, ModelSpec } from "../engine.js";

/** Where the server listens, as its flags spell it. */
export type Listen = { kind: "socket"; path: string } | { kind: "loopback"; host: string };

/** What of a model decides its command line. */
export interface LaunchModel
  extends Pick<ModelSpec, "id" | "weightsPath" | "projectorPath" | "makes"> {
  gguf: Pick<GgufSummary, "layers" | "predictionLayers"> &
    Partial<Pick<GgufSummary, "attention" | "pooling" | "contextLength">>;
}

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

/**
 * States that a slot of a model with sliding windows or recurrent layers keeps of its conversation, to
 * go back to; the program's own 32 would grow far beyond what is planned.
 */
export const CONTEXT_CHECKPOINTS = 2;

/** Tokens that one picture may take: with a projector, a physical batch must hold a whole one. */
const PICTURE_TOKENS = 2048;

/**
 * The command line of llama-server for one model. Every number that decides memory is given, so
 * that nothing is left to the program's own judgement.
 * @throws SomnusError `model_unavailable` when experts are to stay on the processor by layer and the
 *   file does not tell how many layers there are
 */
export function launchFlags(
  model: LaunchModel,
  plan: LoadPlan,
  settings: LaunchSettings,
): string[] {
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
    ...["--ctx-checkpoints", String(CONTEXT_CHECKPOINTS)],
    ...["--ctx-size", String(plan.contextTokens)],
    ...["--parallel", String(plan.slots)],
    ...["--gpu-layers", plan.gpuLayers === "auto" ? "all" : String(plan.gpuLayers)],
    ...["--threads", String(threads)],
    ...["--threads-batch", String(threads)],
    ...["--threads-http", String(2 * plan.slots + HTTP_THREADS_BESIDE_SLOTS)],
    ...["--batch-size", String(logicalBatch(model, batch, plan.contextTokens))],
    ...["--ubatch-size", String(physicalBatch(model, batch, plan.contextTokens))],
    // Silence is ours to judge, and a comment line would only wake us.
    ...["--sse-ping-interval", "-1"],
    // Level 4 is the first that names the phases and the buffers of a load.
    ...["--verbosity", "4"],
    ...expertFlags(model, plan.cpuExpertLayers),
  ];
  if (model.makes === "vectors") flags.push("--embedding");
  if (model.makes === "ranks") flags.push("--reranking");
  if (plan.layersOnDevice !== undefined) {
    flags.push("--tensor-split", plan.layersOnDevice.join(","));
  }
  if (plan.cacheTypeK !== undefined) flags.push("--cache-type-k", plan.cacheTypeK);
  if (plan.cacheTypeV !== undefined) flags.push("--cache-type-v", plan.cacheTypeV);
  if (plan.slotFolder !== undefined) flags.push("--slot-save-path", plan.slotFolder);
  if (model.projectorPath !== undefined) flags.push("--mmproj", model.projectorPath);
  return flags;
}

/**
 * Keeps the routed experts of the last `count` layers in host memory. The program's own `--n-cpu-moe`
 * counts from the first layer, so the tensors are named. Layers that only predict further tokens stand
 * after those that are counted.
 */
function expertFlags({ id, gguf }: LaunchModel, count: number): string[] {
  if (count === 0) return [];
  if (gguf.layers == null) {
    throw new SomnusError(
      "model_unavailable",
      `The file of ${id} does not tell how many layers it has, so cpu_expert_layers cannot be honoured; remove it from the model's configuration.`,
      { param: "cpu_expert_layers" },
    );
  }
  const first = gguf.layers - (gguf.predictionLayers ?? 0) - count;
  if (first <= 0) return ["--cpu-moe"];
  const layers = Array.from({ length: gguf.layers - first }, (_, at) => first + at).join("|");
  return ["--override-tensor", `^blk\\.(${layers})${EXPERT_TENSORS.source}=CPU`];
}

function logicalBatch(model: LaunchModel, batch: number, contextTokens: number): number {
  if (model.makes !== undefined) return physicalBatch(model, batch, contextTokens);
  return model.projectorPath === undefined ? batch : Math.max(batch, PICTURE_TOKENS);
}

/** Prompt tokens that are computed at once. */
export function physicalBatch(model: LaunchModel, batch: number, contextTokens: number): number {
  if (needsWholeInputs(model)) return contextTokens;
  if (model.projectorPath !== undefined) return PICTURE_TOKENS;
  return Math.min(batch, LARGEST_PHYSICAL_BATCH);
}

/**
 * Whether an input can be computed only as a whole, so that a batch has to hold the longest one
 * (`server_slot::can_split`, server-context.cpp): every token has to see every other, or all of them count.
 */
function needsWholeInputs({ makes, gguf }: LaunchModel): boolean {
  if (makes === undefined) return false;
  return gguf.attention?.causal === false || (makes === "vectors" && gguf.pooling !== "last");
}

/** Most tokens of one input of a model that makes vectors or ranks: one computed in pieces leaves a token free. */
export function longestInput(model: LaunchModel, contextTokens: number): number {
  const trained = model.gguf.contextLength ?? contextTokens;
  return Math.min(trained, needsWholeInputs(model) ? contextTokens : contextTokens - 1);
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
  "--ctx-checkpoints",
  "--ctx-size",
  "--parallel",
  "--gpu-layers",
  "--tensor-split",
  "--threads",
  "--threads-batch",
  "--threads-http",
  "--batch-size",
  "--ubatch-size",
  "--sse-ping-interval",
  "--verbosity",
  "--embedding",
  "--reranking",
  "--cpu-moe",
  "--override-tensor",
  "--cache-type-k",
  "--cache-type-v",
  "--slot-save-path",
  "--mmproj",
];
