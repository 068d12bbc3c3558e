import type { Progress } from "../../../observe/index.js";

/** How far a build is. */
export interface BuildStep {
  done: number;
  total: number;
}

/** The step that a line of ninja (`[12/208] ...`) or make (`[ 42%] ...`) tells, or null. */
export function readBuildStep(line: string): BuildStep | null {
  const steps = /^\[(\d+)\/(\d+)\]/.exec(line);
  if (steps !== null) return { done: Number(steps[1]), total: Number(steps[2]) };
  const percent = /^\[\s*(\d+)%\]/.exec(line);
  return percent === null ? null : { done: Number(percent[1]), total: 100 };
}

const WINDOW_MS = 60_000;
/** On a busy machine one step may take a minute; a rate from two of them would jump about. */
const MIN_STEPS = 20;
/** Before this much time has passed a rate says nothing. */
const SETTLED_MS = 3_000;

/**
 * Turns build steps into progress with a rate and a remaining time, both from the last minute or the
 * last twenty steps, whichever is more: the files of a tree differ in size, and the average since
 * the start would lag behind.
 */
export class BuildProgress {
  readonly #seen: { at: number; done: number }[] = [];

  constructor(
    private readonly step: string,
    /** Monotonic milliseconds. */
    private readonly now: () => number,
  ) {}

  /** The progress after this step. */
  after({ done, total }: BuildStep): Progress {
    const at = this.now();
    this.#seen.push({ at, done });
    while (this.#seen.length > MIN_STEPS && at - (this.#seen[0]?.at ?? at) > WINDOW_MS)
      this.#seen.shift();
    const known: Progress = { step: this.step, done, total, unit: "steps" };
    const first = this.#seen[0];
    if (first === undefined || at - first.at < SETTLED_MS || done <= first.done) return known;
    const rate = ((done - first.done) * 1000) / (at - first.at);
    return { ...known, rate, etaSecs: Math.max(0, (total - done) / rate) };
  }
}
