import type { Machine } from "../machine.js";
import { type GpuState, readGpuState } from "./nvidia-state.js";

export interface GpuWatchOptions {
  env: NodeJS.ProcessEnv;
  platform?: NodeJS.Platform;
  /** How old a sample may be before it is renewed, ms. */
  maxAgeMs?: number;
  /** Longest wait for a sample, ms. */
  timeoutMs?: number;
  /** Where nvidia-smi may be beside the search path; absent: the usual places. */
  places?: readonly string[];
}

const MAX_AGE_MS = 3_000;
const TIMEOUT_MS = 10_000;

/** How the device is that a machine computes with, sampled behind the scenes and only while somebody looks. */
export class GpuWatch {
  readonly #options: GpuWatchOptions;
  readonly #closing = new AbortController();
  #newest: GpuState | null = null;
  #sampledAt = Number.NEGATIVE_INFINITY;
  #sampling: Promise<void> | null = null;

  constructor(options: GpuWatchOptions) {
    this.#options = options;
  }

  /**
   * The newest sample at once, and a renewal of it that nobody waits for where it is old; null before the first one,
   * when the device does not answer, and where no real NVIDIA device is used.
   */
  latest({ accelerator, simulated, devices }: Machine): GpuState | null {
    const mayBeNvidia = accelerator === "NvidiaCuda" || accelerator === "Vulkan";
    if (!mayBeNvidia || simulated || devices.length === 0) return null;
    const { maxAgeMs = MAX_AGE_MS } = this.#options;
    const isDue = performance.now() - this.#sampledAt >= maxAgeMs;
    if (isDue && this.#sampling === null && !this.#closing.signal.aborted) {
      this.#sampling = this.#sample().finally(() => {
        this.#sampling = null;
      });
    }
    return this.#newest;
  }

  /** Ends a sample under way. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The device is not watched any more."));
    await this.#sampling;
  }

  async #sample(): Promise<void> {
    const { env, platform = process.platform, timeoutMs = TIMEOUT_MS, places } = this.#options;
    const { signal } = this.#closing;
    const asking = { env, platform, timeoutMs, signal, ...(places && { places }) };
    // Only the end of the watch makes it fail.
    this.#newest = await readGpuState(asking).catch(() => null);
    this.#sampledAt = performance.now();
  }
}
