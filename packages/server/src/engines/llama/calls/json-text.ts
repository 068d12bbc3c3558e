/** Finds whole JSON objects in a text that comes in pieces, without reading any of it twice. */
export class ObjectScanner {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #held = "";

  /** What has come of an object that has not ended; empty between objects. */
  get open(): string {
    return this.#held;
  }

  /**
   * Takes the next piece.
   * @returns the objects that ended in it, and what stands outside of objects
   */
  feed(piece: string): { objects: string[]; outside: string } {
    const objects: string[] = [];
    let outside = "";
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const letter = piece[at]!;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (letter === "\\") this.#escaped = true;
        else if (letter === '"') this.#inString = false;
      } else if (letter === "{" || (letter === "[" && this.#depth > 0)) {
        if (this.#depth === 0) {
          outside += piece.slice(from, at);
          from = at;
        }
        this.#depth++;
      } else if (this.#depth === 0) {
      } else if (letter === '"') {
        this.#inString = true;
      } else if (letter === "}" || letter === "]") {
        this.#depth--;
        if (this.#depth > 0) continue;
        objects.push(this.#held + piece.slice(from, at + 1));
        this.#held = "";
        from = at + 1;
      }
    }
    if (this.#depth > 0) this.#held += piece.slice(from);
    else outside += piece.slice(from);
    return { objects, outside };
  }
}

/**
 * The members of a JSON object, each value as the text that it is written in: a number of more digits than
 * JavaScript holds stays as it is.
 * @returns null when the text is not one JSON object
 */
export function membersOf(json: string): Map<string, string> | null {
  const value = parse(json);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const members = new Map<string, string>();
  const text = compact(json);
  let at = 1;
  while (text[at] === '"') {
    const keyEnd = endOfValue(text, at);
    const valueEnd = endOfValue(text, keyEnd + 1);
    members.set(JSON.parse(text.slice(at, keyEnd)) as string, text.slice(keyEnd + 1, valueEnd));
    at = valueEnd + 1;
  }
  return members;
}

/** Whether a text is one JSON object. */
export function isObjectText(json: string): boolean {
  const value = parse(json);
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Valid JSON without the white space between its tokens. */
function compact(json: string): string {
  let out = "";
  for (const [piece] of json.matchAll(/"(?:[^"\\]|\\.)*"|[^\s"]+/g)) out += piece;
  return out;
}

/** In compact JSON: where the value that begins at `from` ends. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  let inString = false;
  for (let at = from; at < text.length; at++) {
    const letter = text[at]!;
    if (inString) {
      if (letter === "\\") at++;
      else if (letter === '"') inString = false;
      if (!inString && depth === 0) return at + 1;
    } else if (letter === '"') inString = true;
    else if (letter === "{" || letter === "[") depth++;
    else if (letter === "}" || letter === "]") {
      if (depth === 0) return at;
      depth--;
      if (depth === 0) return at + 1;
    } else if (letter === "," && depth === 0) return at;
  }
  return text.length;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
