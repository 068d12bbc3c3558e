import type { FinishReason, GenerationEvent, TokenUsage } from "../generation.js";
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
import { CallFragments } from "./call-fragments.js";
import { inAnswer } from "./read-error.js";
import { readUsage } from "./read-usage.js";

/**
 * Reads the stream of a vendor that speaks the Chat Completions format. Calls, finishes and usage come at the end of
 * it, since some vendors say more after a finish.
 * @throws VendorError when it cannot be read, was cut or holds an error; and what `bytes` throws
 */
export function readChatStream(
  bytes: AsyncIterable<Uint8Array>,
  reading: VendorReading = {},
): AsyncGenerator<GenerationEvent, void, undefined> {
  return readFrames(bytes, new ChunkReader(reading));
}

/**
 * Reads an answer that was not streamed.
 * @throws VendorError when it is none, or holds an error
 */
export function readChatResponse(body: unknown, reading: VendorReading = {}): GenerationEvent[] {
  if (!isObject(body)) throw unreadable("Its answer is no JSON object.");
  const reader = new ChunkReader(reading);
  const choices = listOf(body.choices).map((choice) => asChunk(objectOf(choice)));
  const whole = { ...body, choices };
  return [...reader.chunk(whole), ...reader.end()];
}

/** A whole message is one large piece, and its calls have no numbers. */
function asChunk({ message, ...choice }: Json): Json {
  const whole = objectOf(message);
  const calls = listOf(whole.tool_calls).map((call, index) => ({ ...objectOf(call), index }));
  return { ...choice, delta: { ...whole, tool_calls: calls } };
}

/** One of the alternatives, as far as it is. */
interface OpenChoice {
  readonly calls: CallFragments;
  reason: FinishReason | null;
}

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["tool_calls", "tool_calls"],
  ["function_call", "tool_calls"],
  ["content_filter", "content_filter"],
]);

class ChunkReader implements FrameReader {
  readonly #choices = new Map<number, OpenChoice>();
  readonly #ignored: Ignored;
  #usage: TokenUsage | null = null;
  #failed = false;
  /** It said that nothing more comes. */
  #done = false;
  #ended = false;
  readonly #wanted: number;

  constructor(reading: VendorReading) {
    this.#ignored = new Ignored(reading);
    this.#wanted = reading.choices ?? 1;
  }

  get ended(): boolean {
    return this.#ended;
  }

  *read({ event, data }: Frame): Generator<GenerationEvent> {
    const text = data.trim();
    if (text === "") return;
    if (text === "[DONE]") {
      this.#done = true;
      yield* this.end();
      return;
    }
    const chunk = parseFrame(text);
    if (event === "error" && chunk.error == null) throw errorInAnswer(chunk, inAnswer);
    yield* this.chunk(chunk);
  }

  *chunk(chunk: Json): Generator<GenerationEvent> {
    const choices = listOf(chunk.choices);
    for (const choice of choices) if (isObject(choice)) yield* this.#choice(choice);
    // The object that says what went wrong may be missing beside a finish that says that something did.
    if (chunk.error != null || this.#failed) throw errorInAnswer(chunk.error, inAnswer);
    const usage = [chunk.usage, objectOf(chunk.x_groq).usage, objectOf(choices[0]).usage];
    this.#usage = usage.map(readUsage).find((read) => read !== null) ?? this.#usage;
    if (choices.length === 0 && usage.every((one) => one == null)) {
      this.#ignored.tell(textOf(chunk.object) || textOf(chunk.type) || "a chunk without choices");
    }
  }

  *end(): Generator<GenerationEvent> {
    this.#ended = true;
    if (this.#choices.size === 0) throw cutOff(false);
    const inOrder = [...this.#choices].sort(([a], [b]) => a - b);
    const isOpen = inOrder.some(([, { reason }]) => reason === null);
    // Some end without a mark; those that give fewer alternatives than were asked for do not.
    if (isOpen || (!this.#done && inOrder.length < this.#wanted)) {
      throw cutOff(true);
    }
    for (const [choice, { calls, reason }] of inOrder) {
      const told = reason ?? "stop";
      const whole = calls.all.flatMap((call) => wholeCall(call, told) ?? []);
      for (const call of whole) yield { type: "call", choice, call };
      yield { type: "finish", choice, reason: reasonBeside(told, whole.length) };
    }
    const last = inOrder.at(-1);
    if (this.#usage && last) yield { type: "usage", choice: last[0], usage: this.#usage };
  }

  *#choice(source: Json): Generator<GenerationEvent> {
    if (this.#choices.size === 0) yield { type: "start" };
    const choice = typeof source.index === "number" ? source.index : 0;
    const open = this.#open(choice);
    const delta = objectOf(source.delta);
    yield* this.#thoughts(choice, delta);
    yield* this.#content(choice, delta.content, source.logprobs);
    const refusal = textOf(delta.refusal);
    if (refusal !== "") yield { type: "refusal", choice, text: refusal };
    const older = isObject(delta.function_call) ? [{ function: delta.function_call }] : [];
    for (const name of open.calls.add([...listOf(delta.tool_calls), ...older])) {
      yield { type: "calling", choice, name };
    }
    const reason = textOf(source.finish_reason);
    if (reason === "error") this.#failed = true;
    else if (reason !== "") open.reason = this.#reason(reason);
  }

  #open(choice: number): OpenChoice {
    const known = this.#choices.get(choice);
    if (known) return known;
    const open = { calls: new CallFragments(), reason: null };
    this.#choices.set(choice, open);
    return open;
  }

  #reason(name: string): FinishReason {
    const reason = REASONS.get(name);
    if (reason === undefined) this.#ignored.tell(`finish_reason ${name}`);
    return reason ?? "stop";
  }

  /** Vendors have two names for them, and some send both. */
  *#thoughts(choice: number, delta: Json): Generator<GenerationEvent> {
    const text = textOf(delta.reasoning_content) || textOf(delta.reasoning);
    if (text !== "") yield { type: "reasoning", choice, text };
  }

  /** A text, or a list of parts among which thoughts may stand. */
  *#content(choice: number, content: unknown, logprobs: unknown): Generator<GenerationEvent> {
    const measured = readLogprobs(objectOf(logprobs).content);
    const text = textOf(content);
    if (text !== "" || measured.length > 0) {
      const own = measured.length > 0 ? { logprobs: measured } : {};
      yield { type: "text", choice, text, ...own };
    }
    for (const part of listOf(content)) yield* this.#part(choice, objectOf(part));
  }

  *#part(choice: number, part: Json): Generator<GenerationEvent> {
    if (part.type === "text") {
      const text = textOf(part.text);
      if (text !== "") yield { type: "text", choice, text };
    } else if (part.type === "thinking") {
      const text = textOf(part.thinking) || textsIn(part.thinking);
      if (text !== "") yield { type: "reasoning", choice, text };
    } else this.#ignored.tell(`content ${textOf(part.type)}`);
  }
}

function textsIn(parts: unknown): string {
  return listOf(parts)
    .map((part) => textOf(objectOf(part).text))
    .join("");
}
