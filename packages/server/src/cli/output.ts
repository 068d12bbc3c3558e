import type { Writable } from "node:stream";
import pc from "picocolors";

const DEFAULT_COLUMNS = 80;

/** One of the two outputs of a program: text, colours where they belong, and silence once nobody reads. */
export class Output {
  readonly stream: Writable & { isTTY?: boolean; columns?: number };
  readonly isTerminal: boolean;
  /** Colour functions; they leave text as it is where colours do not belong. */
  readonly paint: ReturnType<typeof pc.createColors>;
  readonly #broken = new AbortController();

  constructor(stream: Writable & { isTTY?: boolean; columns?: number }, env: NodeJS.ProcessEnv) {
    this.stream = stream;
    this.isTerminal = stream.isTTY === true;
    // https://no-color.org: any value but the empty one.
    const noColor = env.NO_COLOR !== undefined && env.NO_COLOR !== "";
    this.paint = pc.createColors(this.isTerminal && !noColor && env.TERM !== "dumb");
    // A reader that has left (`| head`) is no error; there is only nobody to tell more.
    stream.on("error", (error) => this.#broken.abort(error));
  }

  /** Why what was written did not get out; null when it did, or when its reader has left. */
  get failure(): Error | null {
    const { reason } = this.#broken.signal as { reason: unknown };
    if (!this.#broken.signal.aborted || !(reason instanceof Error)) return null;
    return "code" in reason && reason.code === "EPIPE" ? null : reason;
  }

  /** Fires when whoever read this has left. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  /** Characters in a line of the terminal; Infinity where there is no terminal. */
  get columns(): number {
    return this.isTerminal ? this.stream.columns || DEFAULT_COLUMNS : Number.POSITIVE_INFINITY;
  }

  write(text: string): void {
    if (!this.broken.aborted && !this.stream.destroyed) this.stream.write(text);
  }

  line(text = ""): void {
    this.write(`${text}\n`);
  }

  /** A line in place of the "^C" that a terminal has just echoed. */
  lineAfterCtrlC(text: string): void {
    this.line(`${this.isTerminal ? "\r\u001b[K" : ""}${text}`);
  }

  json(value: unknown): void {
    this.line(JSON.stringify(value, null, 2));
  }

  /** Resolves when everything was handed to the system, or nobody reads any more. */
  async flushed(): Promise<void> {
    // A file tells that it is full a moment after the text was taken.
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (this.stream.destroyed || this.broken.aborted || this.stream.writableLength === 0) return;
    await new Promise<void>((resolve) => {
      this.broken.addEventListener("abort", () => resolve(), { once: true });
      this.stream.write("", () => resolve());
    });
  }
}
