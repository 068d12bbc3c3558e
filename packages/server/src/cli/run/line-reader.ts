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

/** Reads lines at a terminal, with editing and history; pasted text stays in one piece. */
export class LineReader {
  readonly #io: Io;
  readonly #pastes: string[] = [];
  #history: string[] = [];
  /** Typed behind a line end that came in the same moment: the start of the next line. */
  #carried = "";

  constructor(io: Io) {
    this.#io = io;
  }

  /** One line. Between two calls the terminal is in its usual mode, so that Ctrl-C is a signal. */
  read(prompt: string): Promise<Typed> {
    const { stdin, out } = this.#io;
    return new Promise((resolve) => {
      const keys = Object.assign(new PassThrough(), {
        isTTY: true,
        setRawMode: (raw: boolean) => stdin.setRawMode?.(raw),
      });
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
      const scanner = new PasteScanner();
      const decoder = new StringDecoder("utf8");
      let escapeTimer: NodeJS.Timeout | undefined;
      const lines: string[] = [];
      let isOver = false;

      const pass = (pieces: Piece[]) => {
        for (const piece of pieces) {
          keys.write(piece.kind === "keys" ? piece.text : this.#pasteText(piece.text));
        }
      };
      const onData = (chunk: Buffer | string) => {
        clearTimeout(escapeTimer);
        pass(scanner.feed(typeof chunk === "string" ? chunk : decoder.write(chunk)));
        if (scanner.holdsKeys) escapeTimer = setTimeout(() => pass(scanner.release()), ESCAPE_MS);
      };
      const onEnd = () => keys.end();
      const finish = (typed: Typed) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(escapeTimer);
        stdin.off("data", onData);
        stdin.off("end", onEnd);
        stdin.pause();
        readline.close();
        out.write(BRACKETED_PASTE_OFF);
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
          this.#carried = isOver ? "" : readline.line;
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

      out.write(BRACKETED_PASTE_ON);
      readline.prompt();
      if (this.#carried !== "") readline.write(this.#carried);
      this.#carried = "";
      stdin.on("data", onData);
      stdin.once("end", onEnd);
      if (stdin.readableEnded || stdin.destroyed) onEnd();
      else stdin.resume();
    });
  }

  #pasteText(pasted: string): string {
    const text = printable(pasted.replace(/\r\n?/g, "\n"));
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
