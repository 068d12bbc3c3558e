import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Io } from "../io.js";
import { printable } from "../layout.js";
import { countText } from "../quantities.js";
import {
  BRACKETED_PASTE_OFF,
  BRACKETED_PASTE_ON,
  PasteScanner,
  type Piece,
} from "./paste-scanner.js";

/** What a person did at the prompt. */
export type Typed =
  | { type: "line"; text: string }
  /** Ctrl-D, or the terminal is gone. */
  | { type: "end" }
  /** Ctrl-C; `discarded` tells whether it threw something typed away. */
  | { type: "interrupt"; discarded: boolean };

/** How long the rest of an escape sequence may take, milliseconds. */
const ESCAPE_MS = 50;
/** Longer pasted text is shown as a token, so that it can be edited around; characters. */
const MAX_INLINE_PASTE = 800;
const HISTORY_LINES = 500;
const CTRL_C = "\u0003";

/**
 * Reads lines at a terminal, with editing and history; pasted text stays in one piece. From
 * `open` to `close` it has the terminal for itself: what is typed between two lines waits, unseen,
 * for the next one.
 */
export class LineReader {
  readonly #io: Io;
  readonly #decoder = new StringDecoder("utf8");
  readonly #scanner = new PasteScanner();
  readonly #pastes: string[] = [];
  readonly #interruptListeners = new Set<() => void>();
  #history: string[] = [];
  /** What was typed and no line has taken yet, as it arrived. */
  readonly #waiting: Piece[][] = [];
  /** Typed behind a line end that came in the same moment: the start of the next line. */
  #carried = "";
  #ended = false;
  #escapeTimer: NodeJS.Timeout | undefined;
  /** Wakes the line that is being read. */
  #wake: () => void = () => {};

  constructor(io: Io) {
    this.#io = io;
  }

  open(): void {
    const { stdin, out } = this.#io;
    stdin.setRawMode?.(true);
    stdin.on("data", this.#onData);
    stdin.on("end", this.#onEnd);
    this.#ended = stdin.readableEnded || stdin.destroyed;
    stdin.resume();
    out.write(BRACKETED_PASTE_ON);
  }

  close(): void {
    const { stdin, out } = this.#io;
    clearTimeout(this.#escapeTimer);
    stdin.off("data", this.#onData);
    stdin.off("end", this.#onEnd);
    stdin.pause();
    stdin.setRawMode?.(false);
    out.write(BRACKETED_PASTE_OFF);
  }

  /** Calls `listener` when Ctrl-C is pressed while no line is read, until the returned function is called. */
  onInterrupt(listener: () => void): () => void {
    this.#interruptListeners.add(listener);
    return () => this.#interruptListeners.delete(listener);
  }

  read(prompt: string): Promise<Typed> {
    const { out } = this.#io;
    return new Promise((resolve) => {
      const keys = new PassThrough();
      const readline = createInterface({
        input: keys,
        output: out.stream,
        terminal: true,
        prompt,
        history: [...this.#history],
        historySize: HISTORY_LINES,
        removeHistoryDuplicates: true,
        escapeCodeTimeout: ESCAPE_MS,
      });
      const lines: string[] = [];
      let isOver = false;
      const finish = (typed: Typed) => {
        if (isOver) return;
        isOver = true;
        this.#wake = () => {};
        readline.close();
        resolve(typed);
      };
      readline.on("history", (history: string[]) => {
        this.#history = history;
      });
      readline.on("line", (line) => {
        lines.push(line);
        // Lines of one moment were not typed: they are a paste into a terminal that does not mark it.
        if (lines.length > 1) return;
        setImmediate(() => {
          if (!isOver) this.#carried = readline.line;
          finish({ type: "line", text: this.#expand(lines.join("\n")) });
        });
      });
      readline.on("SIGINT", () => {
        const discarded = readline.line !== "";
        out.write("\n");
        finish({ type: "interrupt", discarded });
      });
      readline.on("close", () => {
        if (lines.length === 0) finish({ type: "end" });
      });

      let isFeeding = false;
      const feed = () => {
        if (isOver || isFeeding) return;
        const pieces = this.#waiting.shift();
        if (pieces === undefined) {
          if (this.#ended) keys.end();
          return;
        }
        isFeeding = true;
        for (const piece of pieces) {
          keys.write(piece.kind === "keys" ? piece.text : this.#pasteText(piece.text));
        }
        // What one arrival did must be seen before the next one, which may be for the next line.
        setImmediate(() =>
          setImmediate(() => {
            isFeeding = false;
            feed();
          }),
        );
      };
      readline.prompt();
      if (this.#carried !== "") readline.write(this.#carried);
      this.#carried = "";
      this.#wake = feed;
      feed();
    });
  }

  readonly #onData = (chunk: Buffer | string) => {
    clearTimeout(this.#escapeTimer);
    const text = typeof chunk === "string" ? chunk : this.#decoder.write(chunk);
    this.#arrive(this.#scanner.feed(text));
    if (this.#scanner.holdsKeys) {
      this.#escapeTimer = setTimeout(() => this.#arrive(this.#scanner.release()), ESCAPE_MS);
    }
  };

  readonly #onEnd = () => {
    this.#ended = true;
    this.#wake();
  };

  #arrive(pieces: Piece[]): void {
    const isInterrupt = pieces.some(({ kind, text }) => kind === "keys" && text.includes(CTRL_C));
    if (isInterrupt && this.#interruptListeners.size > 0) {
      this.#waiting.length = 0;
      for (const listener of this.#interruptListeners) listener();
      return;
    }
    if (pieces.length > 0) this.#waiting.push(pieces);
    this.#wake();
  }

  #pasteText(pasted: string): string {
    const text = printable(pasted.replace(/\r\n?/g, "\n")).replace(/\n$/, "");
    if (!text.includes("\n") && text.length <= MAX_INLINE_PASTE) return text.replace(/\t/g, "    ");
    this.#pastes.push(text);
    return `[pasted #${this.#pastes.length}: ${countText(text.split("\n").length, "line")}]`;
  }

  #expand(line: string): string {
    return line.replace(
      /\[pasted #(\d+): \d+ lines?\]/g,
      (token, number) => this.#pastes[Number(number) - 1] ?? token,
    );
  }
}
