import type { Bandwidths, Machine } from "../../machine.js";
import { keptBandwidths, probeBandwidths } from "./probe.js";

export interface QuietProbeOptions {
  /** Null before the machine was read. */
  machine: () => Pick<Machine, "processor" | "host"> | null;
  /** The models' folder. */
  folder: string;
  /** `paths.cache_dir`. */
  cacheDir: string;
  /** Whether no request runs and no model loads. Asked often, and must cost nothing. */
  isQuiet: () => boolean;
  /** Called with what is new. Must not throw. */
  onMeasured: (bandwidths: Bandwidths) => void;
  onFailure: (error: unknown) => void;
  /** What reads and what measures; for tests. */
  kept?: typeof keptBandwidths;
  probe?: typeof probeBandwidths;
}

/** How often it is looked whether all is quiet, ms. */
const LOOK_MS = 5_000;
/** Looks in a row that must find it quiet: a start is often followed by the first request. */
const QUIET_LOOKS = 4;
/** While it measures it stops as soon as somebody wants something; looked for so often, ms. */
const WATCH_MS = 20;
/** What could not be measured (no model on the disk yet) is tried again after so many looks. */
const AGAIN_LOOKS = 120;
const UNMEASURED: Bandwidths = { diskToHost: null, hostToDevice: null, host: null };

/**
 * The speeds of disk and memory: at once what an earlier start has kept, and what is missing measured
 * once, while nothing else goes on.
 */
export class QuietProbe {
  readonly #options: QuietProbeOptions;
  readonly #closing = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #latest: Bandwidths = UNMEASURED;
  #known = false;
  #looksLeft = QUIET_LOOKS;
  #work: Promise<void> | null = null;

  constructor(options: QuietProbeOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** As known now; unmeasured is null. */
  latest(): Bandwidths {
    return this.#latest;
  }

  /** Takes up what is kept of this machine and disk. */
  async recall(): Promise<void> {
    const { machine, folder, cacheDir, onFailure, kept = keptBandwidths } = this.#options;
    const of = machine();
    if (of === null) return;
    try {
      this.#take(await kept({ machine: of, folder, cacheDir }));
    } catch (error) {
      onFailure(error);
    }
  }

  /** Ends a measurement under way. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort(new Error("The server is shutting down."));
    await this.#work;
  }

  #look(): void {
    if (this.#known || this.#work !== null) return;
    if (!this.#options.isQuiet()) {
      this.#looksLeft = Math.max(this.#looksLeft, QUIET_LOOKS);
      return;
    }
    this.#looksLeft--;
    if (this.#looksLeft > 0) return;
    this.#looksLeft = AGAIN_LOOKS;
    this.#work = this.#measure().finally(() => {
      this.#work = null;
    });
  }

  async #measure(): Promise<void> {
    const {
      machine,
      folder,
      cacheDir,
      isQuiet,
      onFailure,
      probe = probeBandwidths,
    } = this.#options;
    const of = machine();
    if (of === null) return;
    const disturbed = new AbortController();
    const watch = setInterval(() => {
      if (!isQuiet()) disturbed.abort(new Error("Somebody wants something."));
    }, WATCH_MS);
    const signal = AbortSignal.any([this.#closing.signal, disturbed.signal]);
    try {
      this.#take(await probe({ machine: of, folder, cacheDir, signal, onFailure }));
    } catch (error) {
      if (disturbed.signal.aborted) this.#looksLeft = QUIET_LOOKS;
      else if (!this.#closing.signal.aborted) onFailure(error);
    } finally {
      clearInterval(watch);
    }
  }

  #take(bandwidths: Bandwidths): void {
    const { diskToHost, host } = bandwidths;
    this.#known = diskToHost !== null && host !== null;
    if (diskToHost === this.#latest.diskToHost && host === this.#latest.host) return;
    this.#latest = bandwidths;
    this.#options.onMeasured(bandwidths);
  }
}
