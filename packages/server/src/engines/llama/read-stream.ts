import { StringDecoder } from "node:string_decoder";
import type { TokenLogprob } from "@somnus/contract";
import { createParser } from "eventsource-parser";
import type { FinishReason, GenerationEvent } from "../../formats/index.js";
import type { CallReader } from "./calls/index.js";
import { engineError } from "./errors.js";
import { LeadingThoughts } from "./leading-thoughts.js";
import { StopStrings } from "./stop-strings.js";

/** An event longer than this is not one of llama-server's. */
const LONGEST_EVENT = 16 * 1024 * 1024;
/** OpenAI's number for "very unlikely"; the engine reports the lowest float. */
const VERY_UNLIKELY = -9999;

type TextEvent = Extract<GenerationEvent, { type: "text" }>;
type FinishEvent = Extract<GenerationEvent, { type: "finish" }>;

/** The stream ended before the answer did, or carried what cannot be read. */
export class BrokenStream extends Error {
  override readonly name = "BrokenStream";
}

export interface ReadOptions {
  choice: number;
  /** Most likely tokens wanted in each place; absent when none were asked for. */
  topLogprobs?: number | undefined;
  /** Absent: whatever comes is text. */
  calls?: CallReader | undefined;
  /** What ends the text; none of them empty. What is generated beyond is cut off with the connection. */
  stop?: readonly string[] | undefined;
  /** Whether it goes on with a text, in which no mark means anything. */
  isRaw?: boolean;
}

/**
 * Reads the event stream of llama-server's completions, chat or raw, as generation events. It asks for more
 * bytes only when its own reader asks for more. Unknown fields are passed over.
 * @throws BrokenStream when it ends without a finish, or an event is not JSON
 * @throws SomnusError for an error object inside the stream
 */
export async function* readStream(
  bytes: AsyncIterable<Uint8Array>,
  options: ReadOptions,
): AsyncGenerator<GenerationEvent, void, undefined> {
  const reader = new ChunkReader(options);
  const decoder = new StringDecoder("utf8");
  const parser = createParser({
    maxBufferSize: LONGEST_EVENT,
    onEvent: ({ data }) => reader.read(data),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") reader.fail(new BrokenStream(error.message));
    },
  });
  for await (const piece of bytes) {
    parser.feed(decoder.write(piece));
    for (const event of reader.take()) yield event;
    reader.throwFailure();
    if (reader.stopped) return;
    if (reader.ended) return await restOf(bytes);
  }
  if (!reader.finished) throw new BrokenStream("the stream ended before the answer");
}

/** Reads on to the end: only then the connection can serve again. The answer is whole, so a failure is none. */
async function restOf(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _ of bytes);
  } catch {
    // The connection is gone, and nobody needs it.
  }
}

/** Turns one chunk after the other into events; what failed is thrown after what came before it. */
class ChunkReader {
  readonly #options: ReadOptions;
  #events: GenerationEvent[] = [];
  #failure: Error | undefined;
  #started = false;
  #progressed: Extract<GenerationEvent, { type: "progress" }> | undefined;
  #timings: unknown;
  readonly #thoughts = new LeadingThoughts();
  readonly #stops: StopStrings | null;
  finished = false;
  /** The engine said that nothing more comes. */
  ended = false;
  /** A stop string has ended the answer; what still comes is not of it. */
  stopped = false;

  constructor(options: ReadOptions) {
    this.#options = options;
    this.#stops = options.stop?.length ? new StopStrings(options.stop) : null;
    if (options.isRaw) this.#thoughts.over = true;
  }

  /** What was read since the last time. */
  take(): GenerationEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** To be called when what came before the failure has been handed on. */
  throwFailure(): void {
    if (this.#failure) throw this.#failure;
  }

  fail(error: Error): void {
    this.#failure ??= error;
  }

  read(data: string): void {
    if (this.#failure || this.ended || this.stopped) return;
    if (data === "[DONE]") {
      this.ended = true;
      if (!this.finished) this.fail(new BrokenStream("the stream ended before the answer"));
      return;
    }
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      this.fail(new BrokenStream("an event is not JSON"));
      return;
    }
    if (!isObject(chunk)) return;
    if (isObject(chunk.error)) {
      this.fail(engineError(number(chunk.error.code) ?? 500, chunk));
      return;
    }
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (isObject(chunk.timings)) this.#timings = chunk.timings;
    // Text beside progress is the prompt's own: the begun answer that the model is to go on with.
    if (isObject(chunk.prompt_progress)) this.#progress(chunk.prompt_progress);
    else if (isObject(choice)) this.#choice(choice);
    if (!this.stopped) this.#usage(chunk.usage, chunk.timings);
  }

  #progress(progress: Record<string, unknown>): void {
    const promptTokens = number(progress.total);
    if (promptTokens === undefined) return;
    const cachedTokens = number(progress.cache) ?? 0;
    this.#start({ promptTokens, cachedTokens });
    const done = number(progress.processed) ?? 0;
    this.#progressed = { type: "progress", promptTokens, cachedTokens, done };
    this.#events.push(this.#progressed);
  }

  #start(known: { promptTokens?: number; cachedTokens?: number }): void {
    if (this.#started) return;
    this.#started = true;
    this.#events.push({ type: "start", ...known });
  }

  #choice(source: Record<string, unknown>): void {
    const { choice, calls } = this.#options;
    const delta = isObject(source.delta) ? source.delta : {};
    if (typeof delta.reasoning_content === "string" && delta.reasoning_content !== "") {
      this.#start({});
      this.#events.push({ type: "reasoning", choice, text: delta.reasoning_content });
    }
    const said = source.text ?? delta.content;
    const text = typeof said === "string" ? said : "";
    const logprobs = this.#logprobs(source.logprobs);
    if (text !== "" || logprobs.length > 0) {
      this.#start({});
      const event = {
        type: "text" as const,
        choice,
        text,
        ...(logprobs.length > 0 ? { logprobs } : {}),
      };
      if (this.#thoughts.over) this.#text(event);
      else this.#begun(this.#thoughts.feed(event));
    }
    if (calls && Array.isArray(delta.tool_calls)) {
      this.#start({});
      this.#held(calls.fragments(delta.tool_calls));
    }
    if (typeof source.finish_reason === "string" && !this.stopped) {
      this.finished = true;
      this.#start({});
      const rest = this.#thoughts.end(choice);
      if (rest.length > 0) this.#begun(rest);
      const finish = {
        type: "finish" as const,
        choice,
        reason: finishReason(source.finish_reason),
      };
      if (calls) this.#finish(calls, finish);
      else this.#emit(finish);
    }
  }

  /** What the begin of an answer turned out to be. */
  #begun(events: GenerationEvent[]): void {
    if (events.length === 0) this.#held([]);
    for (const event of events) {
      if (event.type === "text") this.#text(event);
      else this.#events.push(event);
    }
  }

  #text(event: TextEvent): void {
    const { calls } = this.#options;
    if (calls) this.#held(calls.text(event));
    else if (this.#stops) this.#held([event]);
    else this.#events.push(event);
  }

  /** While an answer is held back its prefill is told again: the engine is at work, not silent. */
  #held(events: GenerationEvent[]): void {
    const before = this.#events.length;
    for (const event of events) this.#emit(event);
    if (this.#events.length === before && this.#progressed) this.#events.push(this.#progressed);
  }

  #finish(calls: CallReader, finish: FinishEvent): void {
    try {
      for (const event of calls.finish(finish)) this.#emit(event);
    } catch (error) {
      this.fail(error as Error);
    }
  }

  /** An event of the answer itself, unless a stop string ended it before. */
  #emit(event: GenerationEvent): void {
    if (this.stopped) return;
    if (this.#stops === null) {
      this.#events.push(event);
      return;
    }
    if (event.type === "text") {
      const { text, stop } = this.#stops.feed(event);
      if (text) this.#events.push(text);
      if (stop !== null) this.#stopAt(stop);
      return;
    }
    const rest = this.#stops.end();
    if (rest) this.#events.push(rest);
    this.#events.push(event);
  }

  /** The engine has not ended then, so its own account is not waited for: it told one with every token. */
  #stopAt(stop: string): void {
    const { choice, calls } = this.#options;
    this.stopped = true;
    this.finished = true;
    const reason = calls?.hasGiven ? "tool_calls" : "stop";
    this.#events.push({ type: "finish", choice, reason, ...(calls?.hasGiven ? {} : { stop }) });
    const { promptTokens = 0, cachedTokens = 0 } = this.#progressed ?? {};
    const timings = isObject(this.#timings) ? this.#timings : {};
    const usage = {
      prompt_tokens: promptTokens,
      completion_tokens: timings.predicted_n,
      prompt_tokens_details: { cached_tokens: cachedTokens },
    };
    this.#usage(usage, timings);
  }

  #logprobs(source: unknown): TokenLogprob[] {
    const most = this.#options.topLogprobs;
    if (most === undefined || !isObject(source) || !Array.isArray(source.content)) return [];
    return source.content.flatMap((entry): TokenLogprob[] => {
      const own = readLogprob(entry);
      // A token whose text the engine still holds back has none; it comes with a later one.
      if (own === null || own.token === "" || !isObject(entry)) return [];
      const top = Array.isArray(entry.top_logprobs) ? entry.top_logprobs : [];
      const likely = top.flatMap((other) => readLogprob(other) ?? []).slice(0, most);
      return [{ ...own, top_logprobs: likely }];
    });
  }

  #usage(usage: unknown, timings: unknown): void {
    if (!isObject(usage)) return;
    const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
    const measured = isObject(timings) ? timings : {};
    const own: Record<string, number> = {};
    for (const [name, source] of TIMINGS) {
      const value = number(measured[source]);
      if (value !== undefined) own[name] = value;
    }
    this.#events.push({
      type: "usage",
      choice: this.#options.choice,
      usage: {
        promptTokens: number(usage.prompt_tokens) ?? 0,
        completionTokens: number(usage.completion_tokens) ?? 0,
        cachedTokens: number(details.cached_tokens) ?? 0,
      },
      ...(Object.keys(own).length > 0 ? { timings: own } : {}),
    });
  }
}

const TIMINGS = [
  ["prefillMs", "prompt_ms"],
  ["decodeMs", "predicted_ms"],
  ["prefillTokens", "prompt_n"],
  ["decodeTokens", "predicted_n"],
] as const;

function readLogprob(source: unknown): Omit<TokenLogprob, "top_logprobs"> | null {
  if (!isObject(source) || typeof source.token !== "string") return null;
  const logprob = number(source.logprob) ?? VERY_UNLIKELY;
  return {
    token: source.token,
    logprob: Math.max(VERY_UNLIKELY, logprob),
    bytes: Array.isArray(source.bytes) ? source.bytes.filter((b) => typeof b === "number") : null,
  };
}

function finishReason(reason: string): FinishReason {
  return reason === "length" || reason === "tool_calls" ? reason : "stop";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
