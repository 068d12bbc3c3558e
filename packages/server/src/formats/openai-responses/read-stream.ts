import type { FinishReason, GenerationEvent } from "../generation.js";
import {
  cutOff,
  errorInAnswer,
  type Frame,
  type FrameReader,
  Ignored,
  isObject,
  type Json,
  listOf,
  objectOf,
  parseFrame,
  readFrames,
  readLogprobs,
  reasonBeside,
  textOf,
  unreadable,
  type VendorReading,
  wholeCall,
} from "../vendor/index.js";
import { inAnswer } from "./read-error.js";
import { readUsage } from "./read-usage.js";

/**
 * Reads the stream of a vendor that speaks the Responses format.
 * @throws VendorError when it cannot be read, was cut or holds an error; and what `bytes` throws
 */
export function readResponsesStream(
  bytes: AsyncIterable<Uint8Array>,
  reading: VendorReading = {},
): AsyncGenerator<GenerationEvent, void, undefined> {
  return readFrames(bytes, new EventReader(reading));
}

/**
 * Reads a response that was not streamed.
 * @throws VendorError when it is none, holds an error or is not finished
 */
export function readResponsesResponse(
  body: unknown,
  reading: VendorReading = {},
): GenerationEvent[] {
  if (!isObject(body)) throw unreadable("Its answer is no JSON object.");
  if (body.object !== "response" && body.error != null) throw errorInAnswer(body.error, inAnswer);
  const reader = new EventReader(reading);
  const type = `response.${textOf(body.status) || "completed"}`;
  return [...reader.event({ type, response: body }), ...(reader.ended ? [] : reader.end())];
}

const CUTS: ReadonlyMap<string, FinishReason> = new Map([
  ["max_output_tokens", "length"],
  ["content_filter", "content_filter"],
]);

/** Say nothing that others do not. */
const EXPECTED = new Set([
  "response.created",
  "response.in_progress",
  "response.queued",
  "response.content_part.added",
  "response.content_part.done",
  "response.output_text.done",
  "response.refusal.done",
  "response.reasoning_text.done",
  "response.reasoning_summary_part.done",
  "response.reasoning_summary_text.done",
  "response.function_call_arguments.delta",
  "response.function_call_arguments.done",
  "keepalive",
]);

/** What was seen of an item of the output. */
interface SeenItem {
  /** Something of it was passed on piece by piece: what it is when it is done is known. */
  pieces: boolean;
  /** Its thoughts come as they are; the summary of them is left out. */
  raw: boolean;
  done: boolean;
}

class EventReader implements FrameReader {
  readonly #ignored: Ignored;
  readonly #items = new Map<unknown, SeenItem>();
  /** Why a call is none; it may be the one in which the answer was cut. */
  #broken: unknown = null;
  #calls = 0;
  #started = false;
  #ended = false;

  constructor(reading: VendorReading) {
    this.#ignored = new Ignored(reading);
  }

  get ended(): boolean {
    return this.#ended;
  }

  *read({ event, data }: Frame): Generator<GenerationEvent> {
    const text = data.trim();
    if (text === "" || text === "[DONE]") return;
    const parsed = parseFrame(text);
    yield* this.event(parsed.type === undefined && event ? { ...parsed, type: event } : parsed);
  }

  *event(event: Json): Generator<GenerationEvent> {
    const at = event.output_index;
    switch (event.type) {
      case "response.output_item.added":
        yield* this.#start();
        yield* this.#added(at, objectOf(event.item));
        break;
      case "response.output_text.delta":
        yield* this.#text(at, event.delta, event.logprobs);
        break;
      case "response.refusal.delta":
        yield* this.#refusal(at, event.delta);
        break;
      case "response.reasoning_text.delta":
        this.#item(at).raw = true;
        yield* this.#thought(at, event.delta);
        break;
      case "response.reasoning_summary_part.added":
        if (this.#item(at).pieces && !this.#item(at).raw) yield* this.#thought(at, "\n\n");
        break;
      case "response.reasoning_summary_text.delta":
        if (!this.#item(at).raw) yield* this.#thought(at, event.delta);
        break;
      case "response.output_item.done":
        yield* this.#done(at, objectOf(event.item), "stop");
        break;
      case "response.completed":
      case "response.incomplete":
        yield* this.#end(event.type === "response.incomplete", objectOf(event.response));
        break;
      case "response.failed":
        throw errorInAnswer(objectOf(event.response).error ?? {}, inAnswer);
      case "response.cancelled":
        throw errorInAnswer({ message: "Its response was cancelled." }, inAnswer);
      case "error":
        throw errorInAnswer(
          isObject(event.error) ? event.error : { ...event, type: null },
          inAnswer,
        );
      default:
        yield* this.#other(textOf(event.type));
    }
  }

  end(): never {
    this.#ended = true;
    throw cutOff(this.#started);
  }

  *#other(type: string): Generator<GenerationEvent> {
    if (type === "response.created" || type === "response.in_progress") yield* this.#start();
    if (!EXPECTED.has(type)) this.#ignored.tell(type || "an event without a type");
  }

  *#start(): Generator<GenerationEvent> {
    if (this.#started) return;
    this.#started = true;
    yield { type: "start" };
  }

  #item(index: unknown): SeenItem {
    const known = this.#items.get(index);
    if (known) return known;
    const item = { pieces: false, raw: false, done: false };
    this.#items.set(index, item);
    return item;
  }

  *#added(index: unknown, item: Json): Generator<GenerationEvent> {
    this.#item(index);
    if (item.type === "function_call") {
      yield { type: "calling", choice: 0, name: textOf(item.name) };
    }
  }

  /** An item is whole, or as far as it came; calls are read from here only, the rest where no pieces of it came. */
  *#done(index: unknown, item: Json, reason: FinishReason): Generator<GenerationEvent> {
    const seen = this.#item(index);
    if (seen.done) return;
    seen.done = true;
    const { type, content, summary } = item;
    if (type === "function_call") {
      yield* this.#call(item, item.status === "incomplete" ? "length" : reason);
    } else if (type === "message") {
      if (!seen.pieces)
        for (const part of listOf(content)) yield* this.#part(index, objectOf(part));
    } else if (type === "reasoning") {
      if (seen.pieces) return;
      const texts = listOf(listOf(content).length > 0 ? content : summary);
      const whole = texts.map((part) => textOf(objectOf(part).text)).join("\n\n");
      yield* this.#thought(index, whole);
    } else this.#ignored.tell(`item ${textOf(type)}`);
  }

  *#call(item: Json, reason: FinishReason): Generator<GenerationEvent> {
    const { call_id: id, name, arguments: text } = item;
    try {
      const call = wholeCall(
        { id: textOf(id), name: textOf(name), arguments: textOf(text) },
        reason,
      );
      if (call === null) return;
      this.#calls++;
      yield { type: "call", choice: 0, call };
    } catch (error) {
      this.#broken ??= error;
    }
  }

  *#part(index: unknown, part: Json): Generator<GenerationEvent> {
    if (part.type === "output_text") yield* this.#text(index, part.text, part.logprobs);
    else if (part.type === "refusal") yield* this.#refusal(index, part.refusal);
    else this.#ignored.tell(`content ${textOf(part.type)}`);
  }

  *#end(incomplete: boolean, response: Json): Generator<GenerationEvent> {
    yield* this.#start();
    const cut = textOf(objectOf(response.incomplete_details).reason);
    const reason = incomplete ? this.#cut(cut) : "stop";
    for (const [index, item] of listOf(response.output).entries()) {
      yield* this.#done(index, objectOf(item), reason);
    }
    this.#ended = true;
    if (this.#broken !== null && !incomplete) throw this.#broken;
    yield { type: "finish", choice: 0, reason: reasonBeside(reason, this.#calls) };
    const usage = readUsage(response.usage);
    if (usage) yield { type: "usage", choice: 0, usage };
  }

  #cut(reason: string): FinishReason {
    const known = CUTS.get(reason);
    if (known === undefined) this.#ignored.tell(`incomplete ${reason}`);
    return known ?? "length";
  }

  *#text(index: unknown, value: unknown, logprobs: unknown): Generator<GenerationEvent> {
    const text = textOf(value);
    const measured = readLogprobs(logprobs);
    if (text === "" && measured.length === 0) return;
    this.#item(index).pieces = true;
    const own = measured.length > 0 ? { logprobs: measured } : {};
    yield { type: "text", choice: 0, text, ...own };
  }

  *#refusal(index: unknown, value: unknown): Generator<GenerationEvent> {
    const text = textOf(value);
    if (text === "") return;
    this.#item(index).pieces = true;
    yield { type: "refusal", choice: 0, text };
  }

  *#thought(index: unknown, value: unknown): Generator<GenerationEvent> {
    const text = textOf(value);
    if (text === "") return;
    this.#item(index).pieces = true;
    yield { type: "reasoning", choice: 0, text };
  }
}
