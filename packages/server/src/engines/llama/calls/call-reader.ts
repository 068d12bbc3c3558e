import { randomBytes } from "node:crypto";
import type { GenerationEvent, ToolOffer } from "../../../formats/index.js";
import { SomnusError } from "../../../http/errors.js";
import { severalCalls } from "./call-schema.js";
import { type Found, FreeText } from "./free-text.js";
import { isObjectText, ObjectScanner } from "./json-text.js";
import { readWrittenCall, type WrittenCall } from "./written-call.js";

type TextEvent = Extract<GenerationEvent, { type: "text" }>;
type FinishEvent = Extract<GenerationEvent, { type: "finish" }>;

/** A call of which the engine sends pieces. */
interface Fragments {
  index: number;
  name: string;
  arguments: string;
}

/**
 * Turns one choice's output into text and whole calls, whichever way the calls come: as the engine's own
 * fragments, as an answer that was held to a schema of calls, or as text. No event for a piece means that it
 * is held back.
 */
export class CallReader {
  readonly #choice: number;
  readonly #offered: ReadonlySet<string>;
  readonly #most: number;
  readonly #must: boolean;
  readonly #free: FreeText<TextEvent>;
  readonly #scanner = new ObjectScanner();
  readonly #id = randomBytes(8).toString("hex");
  #constrained: boolean | undefined;
  #fragments: Fragments | null = null;
  #given = 0;
  #half = false;

  /** @param choice index of the alternative */
  constructor(offer: ToolOffer, choice: number) {
    this.#choice = choice;
    this.#offered = new Set(offer.tools.map(({ name }) => name));
    this.#most = severalCalls(offer) ? Number.POSITIVE_INFINITY : 1;
    this.#must = offer.choice !== "auto";
    this.#free = new FreeText(this.#offered, splitText);
  }

  /** Whether a call has come. */
  get hasGiven(): boolean {
    return this.#given > 0;
  }

  /** A piece of text. */
  text(event: TextEvent): GenerationEvent[] {
    if (this.#must && this.#isConstrained(event.text)) {
      const { objects } = this.#scanner.feed(event.text);
      return objects.flatMap((json) => this.#written(readWrittenCall(json, this.#offered)));
    }
    return this.#found(this.#free.feed(event));
  }

  /** The engine's own pieces of calls, a list of OpenAI's deltas. */
  fragments(deltas: readonly unknown[]): GenerationEvent[] {
    return deltas.flatMap((delta) => {
      const { index, function: called } = (delta ?? {}) as {
        index?: unknown;
        function?: { name?: unknown; arguments?: unknown };
      };
      const at = typeof index === "number" ? index : 0;
      const events = this.#fragments && this.#fragments.index !== at ? this.#close() : [];
      this.#fragments ??= { index: at, name: "", arguments: "" };
      if (typeof called?.name === "string") this.#fragments.name += called.name;
      if (typeof called?.arguments === "string") this.#fragments.arguments += called.arguments;
      return events;
    });
  }

  /**
   * The end of the choice: what was held back, and the finish.
   * @throws SomnusError engine_failed when there had to be a call and there is none
   */
  finish(event: FinishEvent): GenerationEvent[] {
    const cut = event.reason === "length";
    const { found, half } = this.#free.end(cut);
    const events = this.#found(found);
    events.push(...this.#close());
    if (this.#must && this.#given === 0 && !cut) {
      throw new SomnusError("engine_failed", "The model did not call a function. Try again.");
    }
    const isCut = cut && (half || this.#half || this.#scanner.open !== "");
    const { type, choice } = event;
    if (this.#given > 0 && !isCut) events.push({ type, choice, reason: "tool_calls" });
    else if (event.reason === "tool_calls") events.push({ type, choice, reason: "stop" });
    else events.push(event);
    return events;
  }

  /** Whether the answer is held to a schema of calls; templates without schemas let the engine see to it. */
  #isConstrained(text: string): boolean {
    const first = text.trimStart()[0];
    if (this.#constrained === undefined && first !== undefined) {
      this.#constrained = first === "{" || first === "[";
    }
    return this.#constrained ?? true;
  }

  #close(): GenerationEvent[] {
    const own = this.#fragments;
    this.#fragments = null;
    if (own === null) return [];
    const args = own.arguments.trim() === "" ? "{}" : own.arguments;
    if (own.name !== "" && isObjectText(args)) {
      return this.#written({ name: own.name, arguments: args });
    }
    this.#half = true;
    return [];
  }

  #found(found: Found<TextEvent>[]): GenerationEvent[] {
    return found.flatMap((one) => ("call" in one ? this.#written(one.call) : [one.piece]));
  }

  #written(call: WrittenCall | null): GenerationEvent[] {
    if (call === null || this.#given >= this.#most) return [];
    this.#given++;
    const id = `call_${this.#id}_${this.#given}`;
    return [{ type: "call", choice: this.#choice, call: { id, ...call } }];
  }
}

/** The log probabilities stay with what came first. */
function splitText(event: TextEvent, at: number): [TextEvent, TextEvent] {
  const { type, choice, text } = event;
  return [
    { ...event, text: text.slice(0, at) },
    { type, choice, text: text.slice(at) },
  ];
}
