import type { LoadFacts, LoadPhase } from "../engine.js";
import { LoadBuffers } from "./load-buffers.js";

/** Line that opens a phase. A phase is never entered again once a later one was. */
const PHASE_LINES: readonly [LoadPhase, RegExp][] = [
  ["weights", /load_model: loading model|llama_model_loader: loaded meta data/],
  ["context", /llama_context: constructing llama_context/],
  ["warmup", /warming up the model/],
  ["projector", /clip_model_loader: (model name|has vision|has audio)|load_hparams: projector/],
  ["ready", /server_?\w*: model loaded|main: model loaded/],
];

/**
 * What llama-server (build 11434, verbosity 4) tells while it loads, read line by line.
 * Unknown lines are passed over, so that another build only tells less.
 */
export class LoadLog {
  readonly #now: () => number;
  readonly #onPhase: (phase: LoadPhase) => void;
  readonly #entered = new Map<LoadPhase, number>();
  readonly #buffers = new LoadBuffers();
  readonly #facts: { loadMode?: LoadFacts["loadMode"]; gpuLayers?: number } = {};
  #contextTokens: number | undefined;
  #thinking = false;
  #listening: string | undefined;

  /** @param now clock in ms */
  constructor(now: () => number, onPhase: (phase: LoadPhase) => void) {
    this.#now = now;
    this.#onPhase = onPhase;
    this.#enter("starting");
  }

  /** Tokens of the pool that the engine allocated. */
  get contextTokens(): number | undefined {
    return this.#contextTokens;
  }

  /** Whether the model's template can make it think before it answers. */
  get thinking(): boolean {
    return this.#thinking;
  }

  /** Address that the server says it listens on, once it can serve. */
  get listening(): string | undefined {
    return this.#listening;
  }

  read(line: string): void {
    for (const [phase, pattern] of PHASE_LINES) {
      if (this.#entered.has(phase) || !pattern.test(line)) continue;
      // The projector is also looked at before the weights, to size it; it is loaded after the context.
      if (phase === "projector" && !this.#entered.has("context")) continue;
      this.#enter(phase);
    }
    this.#buffers.read(line);
    const mode = /load_mode = (\w+)/.exec(line)?.[1];
    if (mode !== undefined) this.#facts.loadMode = mode.includes("mmap") ? "mmap" : "read";
    const layers = /offloaded (\d+)\/\d+ layers to GPU/.exec(line)?.[1];
    if (layers !== undefined) this.#facts.gpuLayers = Number(layers);
    const context = /llama_context: n_ctx += (\d+)/.exec(line)?.[1];
    if (context !== undefined) this.#contextTokens = Number(context);
    if (/chat template, thinking = 1/.test(line)) this.#thinking = true;
    const listening = /listening on (\S+)/.exec(line)?.[1];
    if (listening !== undefined) this.#listening = listening;
  }

  /** The facts of the load; durations up to now where a phase's end was not told. */
  facts(): LoadFacts {
    const end = this.#now();
    const start = this.#entered.get("starting") ?? end;
    const buffers = this.#buffers.all();
    const facts: LoadFacts = {
      loadMode: "mmap",
      ...this.#facts,
      totalMs: end - start,
      ...this.#buffers.totals(),
      ...(buffers === undefined ? {} : { buffers }),
    };
    const weights = this.#entered.get("weights");
    const context = this.#entered.get("context");
    const projector = this.#entered.get("projector");
    const ready = this.#entered.get("ready") ?? end;
    if (weights !== undefined && context !== undefined) facts.weightsMs = context - weights;
    if (context !== undefined) facts.contextMs = (projector ?? ready) - context;
    if (projector !== undefined) facts.projectorMs = ready - projector;
    return facts;
  }

  #enter(phase: LoadPhase): void {
    this.#entered.set(phase, this.#now());
    this.#onPhase(phase);
  }
}
