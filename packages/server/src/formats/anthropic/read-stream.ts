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
  type PartialCall,
  parseFrame,
  readFrames,
  reasonBeside,
  textOf,
  unreadable,
  type VendorReading,
  wholeCall,
} from "../vendor/index.js";
import { inAnswer } from "./read-error.js";
import { MessageCounts } from "./read-usage.js";

/**
 * Reads the stream of a vendor that speaks the Messages format.
 * @throws VendorError when it cannot be read, was cut or holds an error; and what `bytes` throws
 */
export function readMessagesStream(
  bytes: AsyncIterable<Uint8Array>,
  reading: VendorReading = {},
): AsyncGenerator<GenerationEvent, void, undefined> {
  return readFrames(bytes, new EventReader(reading));
}

/**
 * Reads an answer that was not streamed.
 * @throws VendorError when it is none, or holds an error
 */
export function readMessagesResponse(
  body: unknown,
  reading: VendorReading = {},
): GenerationEvent[] {
  if (!isObject(body)) throw unreadable("Its answer is no JSON object.");
  const reader = new EventReader(reading);
  return [
    ...(body.type === "error" ? reader.event(body) : []),
    ...reader.event({ type: "message_start", message: body }),
    ...listOf(body.content).flatMap((block, index) => [
      ...reader.event({ type: "content_block_start", index, content_block: block }),
      ...reader.event({ type: "content_block_stop", index }),
    ]),
    ...reader.event({ type: "message_delta", delta: body }),
    ...reader.end(),
  ];
}

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "content_filter"],
]);

/** Parts of an answer that are of use to this format alone, in every answer that thinks. */
const EXPECTED = new Set(["signature_delta"]);

class EventReader implements FrameReader {
  readonly #ignored: Ignored;
  readonly #counts = new MessageCounts();
  /** Calls whose arguments are still coming, by their block. */
  readonly #open = new Map<unknown, PartialCall>();
  /** The last one that ended: it may be the one in which the answer is cut. */
  #last: PartialCall | null = null;
  #calls = 0;
  #stop: { reason: string; sequence: string } | null = null;
  #started = false;
  #ended = false;

  constructor(reading: VendorReading) {
    this.#ignored = new Ignored(reading);
  }

  get ended(): boolean {
    return this.#ended;
  }

  *read({ data }: Frame): Generator<GenerationEvent> {
    if (data.trim() !== "") yield* this.event(parseFrame(data));
  }

  *event(event: Json): Generator<GenerationEvent> {
    switch (event.type) {
      case "message_start":
        yield* this.#start(objectOf(event.message));
        break;
      case "content_block_start":
        yield* this.#blockStart(event.index, objectOf(event.content_block));
        break;
      case "content_block_delta":
        yield* this.#delta(event.index, objectOf(event.delta));
        break;
      case "content_block_stop":
        this.#blockStop(event.index);
        break;
      case "message_delta":
        this.#messageDelta(event);
        break;
      case "message_stop":
        yield* this.end();
        break;
      case "ping":
        break;
      case "error":
        throw errorInAnswer(event.error, inAnswer);
      default:
        this.#ignored.tell(textOf(event.type) || "an event without a type");
    }
  }

  *end(): Generator<GenerationEvent> {
    this.#ended = true;
    if (!this.#started || this.#stop === null) throw cutOff(this.#started);
    const { reason: name, sequence } = this.#stop;
    const reason = this.#reason(name);
    for (const index of [...this.#open.keys()]) {
      yield* this.#pass("stop");
      this.#blockStop(index);
    }
    yield* this.#pass(reason);
    yield {
      type: "finish",
      choice: 0,
      reason: reasonBeside(reason, this.#calls),
      ...(name === "stop_sequence" && sequence !== "" ? { stop: sequence } : {}),
    };
    const usage = this.#counts.usage();
    if (usage) yield { type: "usage", choice: 0, usage };
  }

  *#start({ usage }: Json): Generator<GenerationEvent> {
    this.#counts.add(usage);
    if (this.#started) return;
    this.#started = true;
    const known = this.#counts.usage();
    const { promptTokens = 0, cachedTokens = 0 } = known ?? {};
    yield { type: "start", ...(promptTokens > 0 ? { promptTokens, cachedTokens } : {}) };
  }

  *#blockStart(index: unknown, block: Json): Generator<GenerationEvent> {
    yield* this.#pass("stop");
    switch (block.type) {
      case "text":
        yield* this.#text(block.text);
        if (listOf(block.citations).length > 0) this.#ignored.tell("citations");
        break;
      case "thinking":
        yield* this.#thought(block.thinking);
        break;
      case "tool_use": {
        const input = objectOf(block.input);
        const known = Object.keys(input).length > 0 ? JSON.stringify(input) : "";
        const name = textOf(block.name);
        this.#open.set(index, { id: textOf(block.id), name, arguments: known });
        yield { type: "calling", choice: 0, name };
        break;
      }
      default:
        this.#ignored.tell(`content ${textOf(block.type)}`);
    }
  }

  *#delta(index: unknown, delta: Json): Generator<GenerationEvent> {
    switch (delta.type) {
      case "text_delta":
        yield* this.#text(delta.text);
        break;
      case "thinking_delta":
        yield* this.#thought(delta.thinking);
        break;
      case "input_json_delta": {
        const call = this.#open.get(index);
        if (call) call.arguments += textOf(delta.partial_json);
        break;
      }
      default: {
        const type = textOf(delta.type);
        if (!EXPECTED.has(type)) this.#ignored.tell(type || "a delta without a type");
      }
    }
  }

  #blockStop(index: unknown): void {
    const call = this.#open.get(index);
    if (!call) return;
    this.#open.delete(index);
    this.#last = call;
  }

  /** Passes on the last call that ended; whether it is whole is known when more has come. */
  *#pass(reason: FinishReason): Generator<GenerationEvent> {
    const last = this.#last;
    if (last === null) return;
    this.#last = null;
    const call = wholeCall(last, reason);
    if (call === null) return;
    this.#calls++;
    yield { type: "call", choice: 0, call };
  }

  #messageDelta({ delta, usage }: Json): void {
    const { stop_reason: reason, stop_sequence: sequence } = objectOf(delta);
    if (typeof reason === "string") this.#stop = { reason, sequence: textOf(sequence) };
    this.#counts.add(usage);
  }

  #reason(name: string): FinishReason {
    const reason = REASONS.get(name);
    if (reason === undefined) this.#ignored.tell(`stop_reason ${name}`);
    return reason ?? "stop";
  }

  *#text(value: unknown): Generator<GenerationEvent> {
    const text = textOf(value);
    if (text !== "") yield { type: "text", choice: 0, text };
  }

  *#thought(value: unknown): Generator<GenerationEvent> {
    const text = textOf(value);
    if (text !== "") yield { type: "reasoning", choice: 0, text };
  }
}
