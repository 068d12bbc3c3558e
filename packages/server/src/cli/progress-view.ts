import { MultiBar, type SingleBar } from "cli-progress";
import type { Progress } from "../observe/index.js";
import { cut, displayWidth, printable } from "./layout.js";
import type { Output } from "./output.js";
import { bytesText, durationText } from "./quantities.js";

/** How far a step is: measured in units, or as the percentage that a server tells. */
export type Extent =
  | Omit<Progress, "step" | "file" | "resumedFrom">
  | { percent: number | null; etaSecs: number | null };

/** Milliseconds until the first line about a step, and between the later ones, where there is no terminal. */
export interface Pace {
  readonly firstMs: number;
  readonly everyMs: number;
}

const PACE: Pace = { firstMs: 1_000, everyMs: 5_000 };
/** A step that is over sooner leaves no line behind, in milliseconds. */
const WORTH_TELLING_MS = 1_000;
/** Columns of the percentage and of the longest detail: "491 of 491 MB, 99 MB/s, 59 min 59 s left". */
const DETAIL_COLUMNS = 8 + 44;

interface Step {
  readonly name: string;
  readonly begun: number;
  extent: Extent | null;
  bar: SingleBar | null;
  /** A plain line about it was printed. */
  told: boolean;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Shows what is under way: a bar each on a terminal, else a plain line every few seconds. Work of one
 * strand is one step after the other; several strands, such as files that are fetched at once, have
 * bars of their own. `stop` it on every path: bars are drawn until then.
 */
export class ProgressView {
  readonly #out: Output;
  readonly #pace: Pace;
  readonly #steps = new Map<string, Step>();
  #bars: MultiBar | null = null;

  constructor(out: Output, pace: Pace = PACE) {
    this.#out = out;
    this.#pace = pace;
  }

  /** The step that a strand is at and how far it is. Another name ends the strand's step before. */
  show(name: string, extent: Extent | null, strand = ""): void {
    const before = this.#steps.get(strand);
    if (before?.name === name) {
      before.extent = extent;
      before.bar?.update(0, { step: before });
      return;
    }
    this.#end((key, step) => key === strand || isComplete(step));
    this.#begin(name, extent, strand);
  }

  /** Prints lines without disturbing the bars. */
  print(text: string): void {
    this.#clear();
    this.#out.line(text);
    this.#draw();
  }

  /** What is under way is over. */
  finish(): void {
    this.#end(() => true);
  }

  /** Takes everything away without a word: it failed, or nobody waits for it any more. */
  stop(): void {
    for (const step of this.#steps.values()) clearTimeout(step.timer);
    this.#clear();
    this.#steps.clear();
  }

  #begin(name: string, extent: Extent | null, strand: string): void {
    const begun = performance.now();
    const step: Step = { name, begun, extent, bar: null, told: false, timer: undefined };
    this.#steps.set(strand, step);
    if (this.#out.isTerminal) {
      this.#draw();
      return;
    }
    const tell = () => {
      step.told = true;
      const detail = detailText(step.extent);
      this.#out.line(`${printable(name)}${detail === "" ? " ..." : `: ${detail}`}`);
      step.timer = setTimeout(tell, this.#pace.everyMs).unref();
    };
    step.timer = setTimeout(tell, this.#pace.firstMs).unref();
  }

  /** Ends steps, and tells of those that took a while. */
  #end(isOver: (strand: string, step: Step) => boolean): void {
    const over = [...this.#steps].filter(([strand, step]) => isOver(strand, step));
    if (over.length === 0) return;
    this.#clear();
    for (const [strand, step] of over) {
      clearTimeout(step.timer);
      this.#steps.delete(strand);
      const tookMs = performance.now() - step.begun;
      if (tookMs < WORTH_TELLING_MS && !step.told) continue;
      const { paint } = this.#out;
      const size = measuredText(step.extent);
      const detail = `${size === "" ? "" : `${size}, `}${durationText(tookMs / 1_000)}`;
      this.#out.line(`${paint.green("✓")} ${printable(step.name)}  ${paint.dim(detail)}`);
    }
    this.#draw();
  }

  /** Gives every step its bar. */
  #draw(): void {
    if (!this.#out.isTerminal || this.#steps.size === 0 || this.#out.broken.aborted) return;
    this.#bars ??= new MultiBar({
      stream: this.#out.stream,
      format: (_options, _params, { step }: { step: Step }) => this.#lineOf(step),
      hideCursor: true,
      clearOnComplete: true,
      forceRedraw: true,
      fps: 8,
    });
    for (const step of this.#steps.values()) step.bar ??= this.#bars.create(1, 0, { step });
    this.#bars.update();
  }

  /** Takes the bars from the screen; `#draw` brings them back. */
  #clear(): void {
    if (!this.#out.broken.aborted) this.#bars?.stop();
    this.#bars = null;
    for (const step of this.#steps.values()) step.bar = null;
  }

  #lineOf(step: Step): string {
    const { columns, paint } = this.#out;
    const share = shareOf(step.extent);
    const detail = detailText(step.extent);
    const name = printable(step.name);
    if (share === null) {
      const text = `${name} ...${detail === "" ? "" : ` ${detail}`}`;
      return paint.dim(cut(text, columns - 1));
    }
    const width = Math.max(8, Math.min(30, Math.floor((columns - DETAIL_COLUMNS) / 3)));
    const done = Math.round(share * width);
    const bar = paint.cyan("█".repeat(done) + "░".repeat(width - done));
    const title = cut(name, Math.max(12, columns - DETAIL_COLUMNS - width));
    const percent = `${Math.floor(share * 100)}%`;
    const room = columns - displayWidth(title) - width - percent.length - 5;
    return `${title} ${bar} ${percent}  ${paint.dim(cut(detail, room))}`;
  }
}

function isComplete({ extent }: Step): boolean {
  return extent !== null && "done" in extent && !!extent.total && extent.done >= extent.total;
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
    const amount = (count: number) => (extent.unit === "bytes" ? bytesText(count) : `${count}`);
    if (extent.total !== undefined) {
      parts.push(`${amount(extent.done)} of ${amount(extent.total)}`);
    } else if (extent.done > 0) parts.push(amount(extent.done));
    if (extent.rate !== undefined && extent.unit === "bytes") {
      parts.push(`${bytesText(extent.rate)}/s`);
    }
  }
  const { etaSecs } = extent;
  if (etaSecs !== undefined && etaSecs !== null) parts.push(`${durationText(etaSecs)} left`);
  return parts.join(", ");
}

function measuredText(extent: Extent | null): string {
  if (extent === null || "percent" in extent || extent.unit !== "bytes") return "";
  return bytesText(extent.total ?? extent.done);
}
