import type { Logger } from "./observe/index.js";
import type { Average, KeptTime } from "./scheduling/index.js";
import { type Store, saveServiceTimes, serviceTimes } from "./store/index.js";

const MEASURE = "service_ms";
/** Time between two savings: what is lost with the process at most. */
const EVERY_MS = 60_000;

/** How long requests of each model hold it, known from before the server was started. */
export class LearnedTimes {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #known = new Map<string, Average>();
  readonly #saved = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #measured: () => readonly KeptTime[] = () => [];

  constructor({ store, log }: { store: Store; log: Logger }) {
    this.#store = store;
    this.#log = log;
  }

  /** Reads what was kept; without it everything is measured anew. Never throws. */
  async recall(): Promise<void> {
    try {
      for (const { model, measure, mean, deviation, samples } of await serviceTimes(this.#store)) {
        if (measure === MEASURE)
          this.#known.set(model, { mean, deviation: deviation ?? 0, samples });
      }
    } catch (error) {
      this.#log.warn({ err: error }, "how long requests took could not be read");
    }
  }

  /** What was kept of a model; null for one that has never served. */
  of(model: string): Average | null {
    return this.#known.get(model) ?? null;
  }

  /** Saves what is measured from now on, every minute and at the end. */
  watch(measured: () => readonly KeptTime[]): void {
    this.#measured = measured;
    this.#timer = setInterval(() => this.#save(), EVERY_MS);
    this.#timer.unref();
  }

  /** Saves for the last time. */
  close(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    this.#save();
  }

  #save(): void {
    const changed = this.#measured().filter(
      ({ model, samples }) => this.#saved.get(model) !== samples,
    );
    if (changed.length === 0) return;
    const at = Date.now();
    saveServiceTimes(
      this.#store,
      changed.map((time) => ({ ...time, measure: MEASURE, at })),
    );
    for (const { model, samples } of changed) this.#saved.set(model, samples);
  }
}
