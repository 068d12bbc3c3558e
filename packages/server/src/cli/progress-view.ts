import { SingleBar } from "cli-progress";
import type { Progress } from "../observe/index.js";
import { cut, printable } from "./layout.js";
import type { Output } from "./output.js";
import { bytesText, durationText } from "./quantities.js";

/** How far a step is: measured in units, or as the percentage that a server tells. */
export type Extent = Omit<Progress, "step"> | { percent: number | null; etaSecs: number | null };

/** Milliseconds until the first line about a step, and between the later ones, where there is no terminal. */
export interface Pace {
  readonly firstMs: number;
  readonly everyMs: number;
}

const PACE: Pace = { firstMs: 1_000, everyMs: 5_000 };
/** A step that is over sooner leaves no line behind, in milliseconds. */
const WORTH_TELLING_MS = 1_000;
const CLEAR_LINE = "\r\u001b[K";

interface Step {
  readonly name: string;
  readonly begun: number;
  extent: Extent | null;
  bar: SingleBar | null;
  /** Something of it is on the screen, or was printed. */
  shown: boolean;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Shows one step of work after the other: a bar on a terminal, else a plain line every few
 * seconds. `stop` it on every path: a bar draws until then.
 */
export class ProgressView {
  readonly #out: Output;
  readonly #pace: Pace;
  #step: Step | null = null;

  constructor(out: Output, pace: Pace = PACE) {
    this.#out = out;
    this.#pace = pace;
  }

  /** The step that runs now and how far it is. Another name ends the step before. */
  show(name: string, extent: Extent | null): void {
    if (this.#step?.name !== name) {
      this.finish();
      this.#begin(name);
    }
    const step = this.#step!;
    step.extent = extent;
    if (this.#out.isTerminal) this.#draw(step);
  }

  /** Prints lines without disturbing the bar. */
  print(text: string): void {
    const step = this.#step;
    if (step !== null) this.#clear(step);
    this.#out.line(text);
    if (step !== null && this.#out.isTerminal) this.#draw(step);
  }

  /** The step that runs is over. */
  finish(): void {
    const step = this.#step;
    if (step === null) return;
    const wasShown = step.shown;
    this.stop();
    const tookMs = performance.now() - step.begun;
    if (tookMs < WORTH_TELLING_MS && !(wasShown && !this.#out.isTerminal)) return;
    const { paint } = this.#out;
    const size = sizeText(step.extent);
    const detail = paint.dim(`${size === "" ? "" : `${size}, `}${durationText(tookMs / 1_000)}`);
    this.#out.line(`${paint.green("✓")} ${printable(step.name)}  ${detail}`);
  }

  /** Takes the step away without a word: it failed, or nobody waits for it any more. */
  stop(): void {
    if (this.#step === null) return;
    clearInterval(this.#step.timer);
    this.#clear(this.#step);
    this.#step = null;
  }

  #begin(name: string): void {
    const step: Step = {
      name,
      begun: performance.now(),
      extent: null,
      bar: null,
      shown: false,
      timer: undefined,
    };
    this.#step = step;
    if (this.#out.isTerminal) return;
    const tell = () => {
      step.shown = true;
      const detail = detailText(step.extent);
      this.#out.line(`${printable(name)}${detail === "" ? " ..." : `: ${detail}`}`);
      step.timer = setTimeout(tell, this.#pace.everyMs).unref();
    };
    step.timer = setTimeout(tell, this.#pace.firstMs).unref();
  }

  #draw(step: Step): void {
    const share = shareOf(step.extent);
    step.shown = true;
    if (share === null) {
      this.#clear(step);
      step.shown = true;
      const detail = detailText(step.extent);
      const text = `${printable(step.name)} ...${detail === "" ? "" : ` ${detail}`}`;
      this.#out.write(this.#out.paint.dim(cut(text, this.#out.columns - 1)));
      return;
    }
    const payload = { detail: detailText(step.extent) };
    if (step.bar !== null) {
      step.bar.update(share, payload);
      return;
    }
    this.#clear(step);
    step.shown = true;
    step.bar = this.#bar(step.name);
    step.bar.start(1, share, payload);
  }

  #bar(name: string): SingleBar {
    const { columns, paint, stream } = this.#out;
    // Room for the percentage and for the longest detail: "491 of 491 MB, 99 MB/s, 59 min 59 s left".
    const rest = 8 + 44;
    const barsize = Math.max(8, Math.min(30, Math.floor((columns - rest) / 3)));
    const title = cut(printable(name), Math.max(12, columns - rest - barsize));
    return new SingleBar({
      stream,
      barsize,
      barCompleteChar: "█",
      barIncompleteChar: "░",
      format: `${title.replace(/[{}]/g, "")} ${paint.cyan("{bar}")} {percentage}%  ${paint.dim("{detail}")}`,
      hideCursor: true,
      clearOnComplete: true,
      fps: 8,
    });
  }

  #clear(step: Step): void {
    if (step.bar !== null) {
      if (!this.#out.broken.aborted) step.bar.stop();
      step.bar = null;
    } else if (step.shown && this.#out.isTerminal) this.#out.write(CLEAR_LINE);
    if (this.#out.isTerminal) step.shown = false;
  }
}

/** Done part of all, from 0 to 1; null when it cannot be told. */
function shareOf(extent: Extent | null): number | null {
  if (extent === null) return null;
  if ("percent" in extent) return extent.percent === null ? null : clamp(extent.percent / 100);
  return extent.total ? clamp(extent.done / extent.total) : null;
}

function clamp(share: number): number {
  return Math.max(0, Math.min(1, share));
}

function detailText(extent: Extent | null): string {
  if (extent === null) return "";
  const parts: string[] = [];
  if ("percent" in extent) {
    if (extent.percent !== null) parts.push(`${Math.floor(extent.percent)} %`);
  } else {
    if (extent.total !== undefined) {
      const all = extent.unit === "bytes" ? bytesText(extent.total) : `${extent.total}`;
      const done = extent.unit === "bytes" ? bytesText(extent.done) : `${extent.done}`;
      parts.push(`${done} of ${all}`);
    } else if (extent.done > 0) {
      parts.push(extent.unit === "bytes" ? bytesText(extent.done) : `${extent.done}`);
    }
    if (extent.rate !== undefined && extent.unit === "bytes") {
      parts.push(`${bytesText(extent.rate)}/s`);
    }
  }
  const { etaSecs } = extent;
  if (etaSecs !== undefined && etaSecs !== null) parts.push(`${durationText(etaSecs)} left`);
  return parts.join(", ");
}

function sizeText(extent: Extent | null): string {
  if (extent === null || "percent" in extent || extent.unit !== "bytes") return "";
  return bytesText(extent.total ?? extent.done);
}
