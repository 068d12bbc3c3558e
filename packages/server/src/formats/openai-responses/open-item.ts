import type {
  ResponsesAnswerText,
  ResponsesEvent,
  ResponsesOutputItem,
  TokenLogprob,
} from "@somnus/contract";
import type { ToolCall } from "../generation.js";
import { itemIdOf } from "./item-ids.js";
import type { WireName } from "./tool-names.js";

/** An event before it has its number. */
export type Unnumbered = ResponsesEvent extends infer E
  ? E extends ResponsesEvent
    ? Omit<E, "sequence_number">
    : never
  : never;

/** How an item ended. */
export type ItemEnd = "completed" | "incomplete";

/** Where an item of the answer stands. */
interface Place {
  readonly responseId: string;
  readonly index: number;
}

/** An item that is being written: its events, and what it is so far. */
export interface OpenItem {
  begin(): Unnumbered[];
  add(text: string, logprobs: readonly TokenLogprob[]): Unnumbered[];
  end(how: ItemEnd): Unnumbered[];
  item(status: "in_progress" | ItemEnd): ResponsesOutputItem;
}

type ContentPart = Extract<Unnumbered, { type: "response.content_part.added" }>["part"];

/** An item with one part of content, which grows. */
abstract class OneContent<Part extends ContentPart> implements OpenItem {
  readonly id: string;
  readonly #index: number;
  readonly #text: string[] = [];

  constructor(type: "message" | "reasoning", { responseId, index }: Place) {
    this.id = itemIdOf(type, { responseId, part: "output", index });
    this.#index = index;
  }

  begin(): Unnumbered[] {
    const item = { ...this.item("in_progress"), content: [] };
    return [
      { type: "response.output_item.added", output_index: this.#index, item },
      { type: "response.content_part.added", ...this.place(), part: this.part() },
    ];
  }

  add(text: string, logprobs: readonly TokenLogprob[]): Unnumbered[] {
    this.#text.push(text);
    return [this.delta(text, logprobs)];
  }

  end(how: ItemEnd): Unnumbered[] {
    const part = this.part();
    return [
      this.done(part),
      { type: "response.content_part.done", ...this.place(), part },
      { type: "response.output_item.done", output_index: this.#index, item: this.item(how) },
    ];
  }

  abstract item(
    status: "in_progress" | ItemEnd,
  ): Extract<ResponsesOutputItem, { content?: unknown }>;
  protected abstract part(): Part;
  protected abstract delta(text: string, logprobs: readonly TokenLogprob[]): Unnumbered;
  protected abstract done(part: Part): Unnumbered;

  /** All that was added. */
  protected text(): string {
    return this.#text.join("");
  }

  protected place() {
    return { item_id: this.id, output_index: this.#index, content_index: 0 };
  }
}

/** The message that holds the answer's text. */
export class OpenMessage extends OneContent<ResponsesAnswerText> {
  readonly #logprobs: TokenLogprob[] = [];

  constructor(place: Place) {
    super("message", place);
  }

  item(status: "in_progress" | ItemEnd): Extract<ResponsesOutputItem, { type: "message" }> {
    return { type: "message", id: this.id, role: "assistant", status, content: [this.part()] };
  }

  protected part(): ResponsesAnswerText {
    const logprobs = [...this.#logprobs];
    return { type: "output_text", text: this.text(), annotations: [], logprobs };
  }

  protected delta(text: string, logprobs: readonly TokenLogprob[]): Unnumbered {
    this.#logprobs.push(...logprobs);
    const place = this.place();
    return { type: "response.output_text.delta", ...place, delta: text, logprobs: [...logprobs] };
  }

  protected done({ text, logprobs }: ResponsesAnswerText): Unnumbered {
    return { type: "response.output_text.done", ...this.place(), text, logprobs };
  }
}

/** A message in which the model says that it will not answer. */
export class OpenRefusal extends OneContent<{ type: "refusal"; refusal: string }> {
  constructor(place: Place) {
    super("message", place);
  }

  item(status: "in_progress" | ItemEnd): Extract<ResponsesOutputItem, { type: "message" }> {
    return { type: "message", id: this.id, role: "assistant", status, content: [this.part()] };
  }

  protected part() {
    return { type: "refusal" as const, refusal: this.text() };
  }

  protected delta(text: string): Unnumbered {
    return { type: "response.refusal.delta", ...this.place(), delta: text };
  }

  protected done({ refusal }: { refusal: string }): Unnumbered {
    return { type: "response.refusal.done", ...this.place(), refusal };
  }
}

/** Thoughts as they are. */
export class OpenThoughts extends OneContent<{ type: "reasoning_text"; text: string }> {
  constructor(place: Place) {
    super("reasoning", place);
  }

  item(status: "in_progress" | ItemEnd): Extract<ResponsesOutputItem, { type: "reasoning" }> {
    return { type: "reasoning", id: this.id, status, summary: [], content: [this.part()] };
  }

  protected part() {
    return { type: "reasoning_text" as const, text: this.text() };
  }

  protected delta(text: string): Unnumbered {
    return { type: "response.reasoning_text.delta", ...this.place(), delta: text };
  }

  protected done({ text }: { text: string }): Unnumbered {
    return { type: "response.reasoning_text.done", ...this.place(), text };
  }
}

/** Thoughts in the place of their summary, where clients that know no other form look for them. */
export class OpenSummary implements OpenItem {
  readonly #id: string;
  readonly #index: number;
  readonly #text: string[] = [];

  constructor({ responseId, index }: Place) {
    this.#id = itemIdOf("reasoning", { responseId, part: "output", index });
    this.#index = index;
  }

  begin(): Unnumbered[] {
    const item = { ...this.item("in_progress"), summary: [] };
    return [
      { type: "response.output_item.added", output_index: this.#index, item },
      { type: "response.reasoning_summary_part.added", ...this.#place(), part: this.#part() },
    ];
  }

  add(text: string): Unnumbered[] {
    this.#text.push(text);
    return [{ type: "response.reasoning_summary_text.delta", ...this.#place(), delta: text }];
  }

  end(how: ItemEnd): Unnumbered[] {
    const part = this.#part();
    return [
      { type: "response.reasoning_summary_text.done", ...this.#place(), text: part.text },
      { type: "response.reasoning_summary_part.done", ...this.#place(), part },
      { type: "response.output_item.done", output_index: this.#index, item: this.item(how) },
    ];
  }

  item(status: "in_progress" | ItemEnd): Extract<ResponsesOutputItem, { type: "reasoning" }> {
    return { type: "reasoning", id: this.#id, status, summary: [this.#part()] };
  }

  #part() {
    return { type: "summary_text" as const, text: this.#text.join("") };
  }

  #place() {
    return { item_id: this.#id, output_index: this.#index, summary_index: 0 };
  }
}

/** A call with its events: calls come whole. */
export function writeCall(
  call: ToolCall,
  called: WireName,
  { responseId, index }: Place,
): { item: ResponsesOutputItem; events: Unnumbered[] } {
  const id = itemIdOf("function_call", { responseId, part: "output", index });
  const item = {
    type: "function_call" as const,
    id,
    status: "completed" as const,
    call_id: call.id,
    ...called,
    arguments: call.arguments,
  };
  const place = { item_id: id, output_index: index };
  return {
    item,
    events: [
      {
        type: "response.output_item.added",
        output_index: index,
        item: { ...item, status: "in_progress", arguments: "" },
      },
      { type: "response.function_call_arguments.delta", ...place, delta: call.arguments },
      {
        type: "response.function_call_arguments.done",
        ...place,
        name: called.name,
        arguments: call.arguments,
      },
      { type: "response.output_item.done", output_index: index, item },
    ],
  };
}
