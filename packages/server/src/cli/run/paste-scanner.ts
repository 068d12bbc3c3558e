/** What a terminal sends around pasted text once it was asked to (xterm's "bracketed paste mode"). */
const BEGIN = "\u001b[200~";
const END = "\u001b[201~";

export const BRACKETED_PASTE_ON = "\u001b[?2004h";
export const BRACKETED_PASTE_OFF = "\u001b[?2004l";

export type Piece = { kind: "keys" | "paste"; text: string };

/** Tells pasted text from typed keys in what a terminal sends, however that is cut into chunks. */
export class PasteScanner {
  #held = "";
  #pasted: string | null = null;

  /** The pieces that are complete with this chunk. */
  feed(chunk: string): Piece[] {
    const pieces: Piece[] = [];
    let rest = this.#held + chunk;
    this.#held = "";
    while (rest !== "") {
      const mark: string = this.#pasted === null ? BEGIN : END;
      const at = rest.indexOf(mark);
      if (at === -1) {
        const kept = heldLength(rest, mark);
        this.#held = rest.slice(rest.length - kept);
        this.#take(rest.slice(0, rest.length - kept), pieces);
        break;
      }
      this.#take(rest.slice(0, at), pieces);
      rest = rest.slice(at + mark.length);
      if (this.#pasted === null) this.#pasted = "";
      else {
        pieces.push({ kind: "paste", text: this.#pasted });
        this.#pasted = null;
      }
    }
    return pieces;
  }

  /** Whether the start of a mark is held back that may be a key of its own, like Escape. */
  get holdsKeys(): boolean {
    return this.#pasted === null && this.#held !== "";
  }

  /** Gives up waiting for the rest of a mark. */
  release(): Piece[] {
    const pieces: Piece[] = [];
    const held = this.#held;
    this.#held = "";
    this.#take(held, pieces);
    return pieces;
  }

  #take(text: string, pieces: Piece[]): void {
    if (text === "") return;
    if (this.#pasted === null) pieces.push({ kind: "keys", text });
    else this.#pasted += text;
  }
}

/** How much of the end of `text` could be the start of `mark`. */
function heldLength(text: string, mark: string): number {
  for (let length = Math.min(text.length, mark.length - 1); length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}
