import { ObjectScanner } from "./json-text.js";
import { readWrittenCall, type WrittenCall } from "./written-call.js";

const FENCE = /^```(?:json|tool_call|tool_code)?\s*/;
const FENCE_BEGUN = /^`{1,2}$|^```[a-z_]*$/;
/** The keys that a call can begin with. */
const KEYS = ["name", "arguments", "parameters", "type", "function", "id"];
/** What may stand around calls: a list's own marks, fences and white space. */
const AROUND = /^(?:[\s,[\]`]|json|tool_call|tool_code)*$/;
const AROUND_BEGUN = /^(?:[\s,[\]`]|json|tool_call|tool_code)*[a-z_]{0,9}$/;

/** Follows an answer that may be nothing but calls, written as JSON, fenced or not. */
export class WholeAnswer {
  readonly #offered: ReadonlySet<string>;
  readonly #scanner = new ObjectScanner();
  readonly #calls: WrittenCall[] = [];
  /** What came before the first object. */
  #head = "";
  #inside = false;
  /** What stands outside of objects, from the first one on. */
  #outside = "";
  /** Whether the object that is open names a function on offer. */
  #named = false;

  /** @param offered names of the functions on offer */
  constructor(offered: ReadonlySet<string>) {
    this.#offered = offered;
  }

  /** Takes the next piece. @returns whether the answer may still be nothing but calls */
  feed(piece: string): boolean {
    let text = piece;
    if (!this.#inside) {
      this.#head += piece;
      const at = this.#head.indexOf("{");
      if (at < 0) return mayBeHead(this.#head);
      if (!isHead(this.#head.slice(0, at))) return false;
      this.#inside = true;
      text = this.#head.slice(at);
    }
    const { objects, outside } = this.#scanner.feed(text);
    this.#outside += outside;
    if (!AROUND_BEGUN.test(this.#outside)) return false;
    for (const json of objects) {
      const call = readWrittenCall(json, this.#offered);
      if (call === null) return false;
      this.#calls.push(call);
      this.#named = false;
    }
    return this.#named || this.#mayBecomeCall(this.#scanner.open);
  }

  /** The calls of an answer that is over, and whether another one had begun; none when it is something else. */
  get calls(): { whole: WrittenCall[]; half: boolean } {
    if (!AROUND.test(this.#outside)) return { whole: [], half: false };
    return { whole: this.#calls, half: this.#scanner.open !== "" };
  }

  #mayBecomeCall(open: string): boolean {
    const begun = /^\{\s*(?:"([^"\\]*)("?))?(.*)$/s.exec(open);
    if (open === "") return true;
    if (begun?.[1] === undefined) return begun !== null && begun[3] === "";
    const key = begun[1];
    if (begun[2] === "") return KEYS.some((known) => known.startsWith(key));
    if (!KEYS.includes(key)) return false;
    if (key !== "name") return true;
    const value = /^\s*:\s*"((?:[^"\\]|\\.)*)("?)/.exec(begun[3]!);
    if (value === null) return /^\s*(?::\s*)?$/.test(begun[3]!);
    if (value[2] === '"') {
      this.#named = this.#offered.has(value[1]!);
      return this.#named;
    }
    for (const name of this.#offered) if (name.startsWith(value[1]!)) return true;
    return false;
  }
}

/** Whether what stands before the first object is only a fence or a list's begin. */
function isHead(text: string): boolean {
  return /^\[?\s*$/.test(text.trimStart().replace(FENCE, ""));
}

function mayBeHead(text: string): boolean {
  return FENCE_BEGUN.test(text.trimStart()) || isHead(text);
}
