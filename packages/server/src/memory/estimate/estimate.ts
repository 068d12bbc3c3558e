import type { GgufSummary } from "../../gguf/index.js";
import type { Estimate, LayerBytes, Want } from "../estimate-types.js";
import { checkpointBytes } from "./checkpoint.js";
import { DEVICE_CONTEXT, processBytes } from "./engine-process.js";
import { cellsOf, kvBytesPerToken, kvOfLayers } from "./kv-memory.js";
import { layerKinds } from "./layer-kinds.js";
import { type ProcessorFeature, repackedWeights } from "./repacked-weights.js";
import { type Workspace, workspaceOf } from "./workspace.js";

/** What an estimate depends on beside the model and what is wanted of it. */
export interface EstimateOptions {
  /** Devices that may hold layers; 0: everything is on the host. */
  devices: number;
  projector?: GgufSummary;
  /** Compute threads of the processor; default 1. */
  threads?: number;
  /** Default: those of nearly every x86-64 processor, "avx2". */
  processor?: readonly ProcessorFeature[];
  /**
   * Saved states that a slot comes to hold, where the model makes them at all; at most the engine's
   * `--ctx-checkpoints`. Default 2: what one long prompt leaves.
   */
  checkpoints?: number;
}

const CHECKPOINTS = 2;

/**
 * The memory that llama-server (build 11434) needs for a model: weights, KV and compute buffers by the formulas of
 * its source, named where they are used; what its process takes beside them by a fit of measurements.
 *
 * @throws SomnusError `invalid_request` for an unknown cache type
 */
export function estimate(gguf: GgufSummary, want: Want, options: EstimateOptions): Estimate {
  const kinds = layerKinds(gguf);
  const kv = kvOfLayers(gguf, kinds, want);
  const devices = options.devices > 0;
  const { projector } = options;
  const workspace = workspaceOf(
    gguf,
    kinds,
    want,
    options.threads ?? 1,
    projector?.projector ?? null,
  );
  const checkpoint = checkpointBytes(gguf, kinds, want);
  const saved = checkpoint * want.slots * (options.checkpoints ?? CHECKPOINTS);
  const cells = kinds.keepsKv ? cellsOf(want, kinds.window?.tokens ?? null) : null;
  const repacked = devices ? 0 : repackedWeights(gguf, options.processor ?? ["avx2"]);
  const layers = kv.map((bytes, at): LayerBytes => {
    const layer = gguf.layout.layers[at] ?? { bytes: 0, expertBytes: 0 };
    return { weights: layer.bytes - layer.expertBytes, experts: layer.expertBytes, kv: bytes };
  });
  const heldCells = cells === null ? 0 : cells.all + (kinds.window === null ? 0 : cells.window);
  return {
    layers,
    inputWeights: gguf.layout.inputBytes + gguf.layout.otherBytes,
    outputWeights: outputWeights(gguf, devices),
    projectorWeights: projector?.tensorBytes ?? 0,
    ...workspaceParts(workspace, saved, devices),
    process: {
      device: devices ? DEVICE_CONTEXT : 0,
      host: processBytes(gguf, heldCells, want.slots) + repacked,
    },
    repackedWeights: repacked,
    checkpointBytes: checkpoint,
    kvBytesPerToken: kvBytesPerToken(gguf, kinds, want),
    correction: 1,
    omissions: omissions(kinds.omissions, gguf, options),
  };
}

/** A decoder without an output head uses the token embedding, of which a device gets a copy of its own. */
function outputWeights({ layout }: GgufSummary, devices: boolean): number {
  const tied = devices && !layout.hasOutputWeight ? layout.tokenEmbeddingBytes : 0;
  return layout.outputBytes + tied;
}

function workspaceParts(
  { compute, besideDevice, output, threads, projector }: Workspace,
  saved: number,
  devices: boolean,
): Pick<Estimate, "workspace" | "workspaceAlone" | "compute"> {
  const alone = compute.host + output + threads + projector + saved;
  if (!devices) {
    return {
      workspace: { device: 0, host: alone },
      workspaceAlone: alone,
      compute: { device: 0, host: compute.host },
    };
  }
  return {
    workspace: { device: compute.device + projector, host: besideDevice + output + saved },
    workspaceAlone: alone,
    compute: { device: compute.device, host: besideDevice },
  };
}

function omissions(
  ofLayers: readonly string[],
  gguf: GgufSummary,
  { devices, projector }: EstimateOptions,
): string[] {
  const found = [...ofLayers];
  if (devices > 0) {
    found.push("what a device's driver takes for a process is a usual figure until the first load");
  }
  if (projector !== undefined) {
    found.push("the working memory of the projector is computed for one picture, not measured");
  }
  if (gguf.layers === null && gguf.layout.layers.length === 0) {
    found.push("the file does not say how many layers it has");
  }
  return found;
}

/** An estimate in sums; bytes. */
export interface EstimateTotals {
  weights: number;
  kv: number;
  workspace: number;
  process: number;
  total: number;
}

/** Sums of an estimate when everything is on the host of a machine without devices. */
export function totalsOf(estimated: Estimate): EstimateTotals {
  const sum = (of: (layer: LayerBytes) => number) =>
    estimated.layers.reduce((total, layer) => total + of(layer), 0);
  const weights =
    sum((layer) => layer.weights + layer.experts) +
    estimated.inputWeights +
    estimated.outputWeights +
    estimated.projectorWeights;
  const kv = sum((layer) => layer.kv);
  const workspace = estimated.workspace.device + estimated.workspace.host;
  const process = estimated.process.device + estimated.process.host;
  return { weights, kv, workspace, process, total: weights + kv + workspace + process };
}
