import type { Estimate } from "../../estimate-types.js";
import type { Costs, Resident, Wanted } from "../terms.js";

const MB = 1e6;

/** The shape of a model as its file has it; bytes. */
interface Shape {
  layers: number;
  layerWeights: number;
  layerExperts: number;
  input: number;
  output: number;
  projector: number;
  /** KV memory of a token in a layer with full attention, and which layers those are (every n-th). */
  kvPerToken: number;
  fullEvery: number;
  /** KV memory of a layer with a window, whatever the context. */
  windowBytes: number;
}

/** Llama 3.1 8B, Q4_K_M: 4.9 GB. */
const DENSE_8B: Shape = {
  layers: 32,
  layerWeights: 131 * MB,
  layerExperts: 0,
  input: 295 * MB,
  output: 431 * MB,
  projector: 0,
  kvPerToken: 4096,
  fullEvery: 1,
  windowBytes: 0,
};

/** A 26B mixture of experts with 4B active, Q4_0: 15.8 GB, of which 12.8 GB are experts. */
const MOE_26B: Shape = {
  layers: 30,
  layerWeights: 66 * MB,
  layerExperts: 428 * MB,
  input: 420 * MB,
  output: 560 * MB,
  projector: 600 * MB,
  kvPerToken: 4096,
  fullEvery: 6,
  windowBytes: 12 * MB,
};

/** Llama 3.3 70B, Q4_K_M: 42.5 GB. */
const DENSE_70B: Shape = {
  layers: 80,
  layerWeights: 512 * MB,
  layerExperts: 0,
  input: 590 * MB,
  output: 860 * MB,
  projector: 0,
  kvPerToken: 4096,
  fullEvery: 1,
  windowBytes: 0,
};

const SHAPES = { dense8b: DENSE_8B, moe26b: MOE_26B, dense70b: DENSE_70B };

export type KnownModel = keyof typeof SHAPES;

/** What a known model needs with a context. */
export function estimateOf(model: KnownModel, contextTokens: number): Estimate {
  const shape = SHAPES[model];
  const full = (layer: number) => (layer + 1) % shape.fullEvery === 0;
  const layers = Array.from({ length: shape.layers }, (_, layer) => ({
    weights: shape.layerWeights,
    experts: shape.layerExperts,
    kv: full(layer) ? shape.kvPerToken * contextTokens : shape.windowBytes,
  }));
  return {
    layers,
    inputWeights: shape.input,
    outputWeights: shape.output,
    projectorWeights: shape.projector,
    workspace: { device: 300 * MB, host: 40 * MB },
    workspaceAlone: 300 * MB,
    process: { device: 350 * MB, host: 150 * MB },
    kvBytesPerToken: layers.filter((_, layer) => full(layer)).length * shape.kvPerToken,
    correction: 1,
  };
}

/** A known model as it is asked for. */
export function want(
  known: KnownModel,
  changes: Partial<Omit<Wanted, "estimate" | "leastEstimate">> = {},
): Wanted {
  const contextTokens = changes.contextTokens ?? 8192;
  const leastContextTokens = changes.leastContextTokens ?? Math.min(4096, contextTokens);
  return {
    model: known,
    artifact: `${known}.gguf`,
    artifactBytes: fileBytes(known),
    priority: "normal",
    estimate: estimateOf(known, contextTokens),
    leastEstimate: estimateOf(known, leastContextTokens),
    contextTokens,
    slots: 1,
    firmContextTokens: contextTokens,
    leastContextTokens,
    gpuLayers: "auto",
    moeOffload: "off",
    cpuExpertLayers: null,
    minGpuLayerRatio: null,
    activeExpertShare: null,
    tier: "tier3_nvme_ssd",
    mayEvict: true,
    ...changes,
  };
}

/** Size of a known model's file. */
export function fileBytes(known: KnownModel): number {
  const { layers, layerWeights, layerExperts, input, output } = SHAPES[known];
  return layers * (layerWeights + layerExperts) + input + output;
}

/** A resident that holds a whole number of GB; on devices and on the host. */
export function resident(
  model: string,
  gigabytes: { devices?: number[]; host?: number; mapped?: number; kept?: number },
  changes: Partial<Resident> = {},
): Resident {
  const { devices = [], host = 0, mapped = 0, kept = 0 } = gigabytes;
  const onDevices = devices.reduce((sum, bytes) => sum + bytes, 0);
  return {
    model,
    artifact: `${model}.gguf`,
    artifactBytes: Math.max(kept, mapped, onDevices) * 1e9,
    tier: devices.length > 0 || host > 0 ? "tier1_gpu_vram" : "tier2_pinned_ram",
    priority: "normal",
    held: null,
    keepWarm: false,
    deviceBytes: devices.map((bytes) => bytes * 1e9),
    hostBytes: host * 1e9,
    mappedBytes: mapped * 1e9,
    keptBytes: kept * 1e9,
    ...changes,
  };
}

/** Costs with a request rate and a measured reload for each model named: [requests a minute, ms]. */
export function costs(models: Record<string, [rate: number, reload: number]> = {}): Costs {
  return {
    models: new Map(
      Object.entries(models).map(([id, [expectedPerMinute, reload]]) => [
        id,
        { expectedPerMinute, reloadMs: { fromTier2: reload / 2, fromTier3: reload } },
      ]),
    ),
    bandwidths: { diskToHost: 3e9, hostToDevice: 20e9, host: 40e9 },
  };
}
