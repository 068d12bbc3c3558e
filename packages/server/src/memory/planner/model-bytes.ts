import type { Estimate } from "../estimate-types.js";
import type { Wanted } from "./terms.js";

/**
 * The memory of a model as sums over its first layers, so that any run of layers is a difference. Bytes.
 * A model without layers counts as one layer of nothing: it is on a device or it is not.
 */
export class ModelBytes {
  readonly layers: number;
  readonly hasExperts: boolean;
  readonly #weights: Float64Array;
  readonly #experts: Float64Array;
  readonly #kvMost: Float64Array;
  readonly #kvLeast: Float64Array;
  readonly #estimate: Estimate;
  readonly #leastEstimate: Estimate;
  readonly #contextMost: number;
  readonly #contextLeast: number;

  constructor(wanted: Wanted) {
    const { estimate, leastEstimate } = wanted;
    const n = Math.max(1, estimate.layers.length);
    this.layers = n;
    this.#estimate = estimate;
    this.#leastEstimate = leastEstimate ?? estimate;
    this.#contextMost = wanted.contextTokens;
    this.#contextLeast = Math.min(wanted.leastContextTokens, wanted.contextTokens);
    this.#weights = new Float64Array(n + 1);
    this.#experts = new Float64Array(n + 1);
    this.#kvMost = new Float64Array(n + 1);
    this.#kvLeast = new Float64Array(n + 1);
    let kvTotal = 0;
    for (const layer of estimate.layers) kvTotal += layer.kv;
    const dropped = (this.#contextMost - this.#contextLeast) * estimate.kvBytesPerToken;
    const kept = kvTotal > 0 ? Math.max(0, 1 - dropped / kvTotal) : 1;
    for (let i = 0; i < n; i++) {
      const layer = estimate.layers[i];
      this.#weights[i + 1] = this.#weights[i]! + (layer?.weights ?? 0);
      this.#experts[i + 1] = this.#experts[i]! + (layer?.experts ?? 0);
      this.#kvMost[i + 1] = this.#kvMost[i]! + (layer?.kv ?? 0);
      const least = leastEstimate?.layers[i]?.kv ?? (layer?.kv ?? 0) * kept;
      this.#kvLeast[i + 1] = this.#kvLeast[i]! + least;
    }
    this.hasExperts = this.#experts[n]! > 0;
  }

  /** Weights, without routed experts, of the layers `from` up to `to`. */
  weights(from: number, to: number): number {
    return this.#weights[to]! - this.#weights[from]!;
  }

  /** Routed experts of the layers `from` up to `to`. */
  experts(from: number, to: number): number {
    return to <= from ? 0 : this.#experts[to]! - this.#experts[from]!;
  }

  /** KV memory of the layers `from` up to `to` with a pool context. */
  kv(from: number, to: number, contextTokens: number): number {
    const most = this.#kvMost[to]! - this.#kvMost[from]!;
    const least = this.#kvLeast[to]! - this.#kvLeast[from]!;
    return this.#between(least, most, contextTokens);
  }

  get outputWeights(): number {
    return this.#estimate.outputWeights;
  }

  get inputWeights(): number {
    return this.#estimate.inputWeights;
  }

  get projectorWeights(): number {
    return this.#estimate.projectorWeights;
  }

  /** What a device that holds layers carries beside them. */
  deviceOverhead(contextTokens: number): number {
    return this.#between(
      this.#leastEstimate.workspace.device + this.#leastEstimate.process.device,
      this.#estimate.workspace.device + this.#estimate.process.device,
      contextTokens,
    );
  }

  /** What the host carries beside layers; `computes`: some of them run there though there are devices. */
  hostOverhead(contextTokens: number, computes: boolean): number {
    return this.#between(
      hostOverhead(this.#leastEstimate, computes),
      hostOverhead(this.#estimate, computes),
      contextTokens,
    );
  }

  /** All weights but the projector's. */
  get fileWeights(): number {
    const n = this.layers;
    return this.weights(0, n) + this.experts(0, n) + this.inputWeights + this.outputWeights;
  }

  /** KV memory and buffers grow evenly with the context between the two that were estimated. */
  #between(least: number, most: number, contextTokens: number): number {
    const span = this.#contextMost - this.#contextLeast;
    if (span <= 0) return most;
    const share = Math.min(1, Math.max(0, (contextTokens - this.#contextLeast) / span));
    return least + (most - least) * share;
  }
}

function hostOverhead(estimate: Estimate, computes: boolean): number {
  const { workspace, workspaceAlone, process } = estimate;
  const buffers = computes ? Math.max(workspace.host, workspaceAlone ?? 0) : workspace.host;
  return buffers + process.host;
}
