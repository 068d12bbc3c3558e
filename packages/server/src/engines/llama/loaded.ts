import type { GenerationEvent, GenerationRequest, RawPrompt } from "../../formats/index.js";
import { SomnusError } from "../../http/errors.js";
import type {
  EngineFacts,
  ExitReason,
  Loaded,
  ModelSpec,
  SlotFiles,
  TokenFrame,
} from "../engine.js";
import type { HostedProcess } from "../host/index.js";
import { CallReader } from "./calls/index.js";
import { type EngineClient, type JsonAnswer, readJson } from "./client.js";
import {
  aboutPrompt,
  brokenAnswer,
  engineError,
  exitError,
  stalled,
  withMediumOf,
  withReasonOf,
} from "./errors.js";
import { RawPrompts } from "./raw-prompt.js";
import { readStream } from "./read-stream.js";
import { slotFiles } from "./slot-files.js";
import { StallClock } from "./stall-clock.js";
import { type Ask, detokenize, embed, frame, rank, tokenize } from "./whole-answers.js";
import { chatBody, completionBody, promptBody, stopOf } from "./write-request.js";

/** A broken connection is often the first sign of a dead process; how long its end is waited for, ms. */
const DEATH_NOTICE_MS = 1000;

/** Why a request's own signal fires at its end. One for all: an error of its own would be made for every request. */
const OVER = new Error("the request is over");

/** One of the answers to a request. */
interface Turn {
  /** Its index among all. */
  choice: number;
  /** Its index among those to the same prompt. */
  nth: number;
  /** What it goes on with, in place of the request's messages. */
  prompt?: string | readonly number[];
}

export interface LlamaParts {
  facts: EngineFacts;
  process: HostedProcess;
  client: EngineClient;
  exited: Promise<ExitReason>;
  /** Whether it was started with a folder for what its slots hold. */
  hasSlotFolder: boolean;
  /** What it was started for, beside text. */
  makes: ModelSpec["makes"];
  /** Silence allowed while a request runs, ms. */
  stallMs: number;
  /** Told what the engine measured for a prompt. */
  onPrefill(tokens: number, ms: number): void;
}

/** One model in one llama-server. */
export class LlamaLoaded implements Loaded {
  readonly facts: EngineFacts;
  readonly exited: Promise<ExitReason>;
  readonly slotFiles?: SlotFiles;
  readonly embed?: NonNullable<Loaded["embed"]>;
  readonly rank?: NonNullable<Loaded["rank"]>;
  readonly #parts: LlamaParts;
  readonly #prompts: RawPrompts;
  #frame: TokenFrame | undefined;

  constructor(parts: LlamaParts) {
    this.#parts = parts;
    this.facts = parts.facts;
    this.exited = parts.exited;
    const ask: Ask = (path, body, signal) => this.#ask(path, body, signal);
    this.#prompts = new RawPrompts(ask, (signal) => this.frame(signal));
    if (parts.hasSlotFolder) this.slotFiles = slotFiles(ask);
    if (parts.makes === "vectors") this.embed = (...inputs) => embed(ask, ...inputs);
    if (parts.makes === "ranks") this.rank = (...texts) => rank(ask, ...texts);
  }

  generate(
    request: GenerationRequest,
    slot: number,
    signal: AbortSignal,
  ): AsyncGenerator<GenerationEvent, void, undefined> {
    // Each generator between the engine and the client costs something for every token.
    if (request.prompts) return this.#continuations(request, request.prompts, slot, signal);
    if (request.choices === 1) return this.#choice(request, slot, { choice: 0, nth: 0 }, signal);
    return this.#choices(request, slot, signal);
  }

  tokenize(texts: readonly string[], signal: AbortSignal): Promise<number[][]> {
    return tokenize((...call) => this.#ask(...call), texts, signal);
  }

  async frame(signal: AbortSignal): Promise<TokenFrame> {
    this.#frame ??= await frame((...call) => this.#ask(...call), signal);
    return this.#frame;
  }

  detokenize(tokens: readonly number[], signal: AbortSignal): Promise<string> {
    return detokenize((...call) => this.#ask(...call), tokens, signal);
  }

  async count(request: GenerationRequest, signal: AbortSignal): Promise<number> {
    if (request.prompts) return this.#prompts.longest(request, signal);
    const body = await this.#ask(
      "/v1/chat/completions/input_tokens",
      promptBody(request, this.facts.template),
      signal,
    ).catch((error: unknown) => {
      throw error instanceof SomnusError ? withMediumOf(error, request.messages) : error;
    });
    const tokens = (body as { input_tokens?: unknown } | null)?.input_tokens;
    if (typeof tokens !== "number") throw brokenAnswer(body);
    return tokens;
  }

  async close(how: "drain" | "now"): Promise<void> {
    await this.#parts.process.stop(how);
    await this.exited;
  }

  async *#choices(
    request: GenerationRequest,
    slot: number,
    signal: AbortSignal,
  ): AsyncGenerator<GenerationEvent, void, undefined> {
    for (let choice = 0; choice < request.choices; choice++) {
      for await (const event of this.#choice(request, slot, { choice, nth: choice }, signal)) {
        // How the prompt is read is told once: the next choice finds it in the slot.
        if (choice > 0 && (event.type === "start" || event.type === "progress")) continue;
        yield event;
      }
    }
  }

  /** How prompts are read is told of one that is alone: what is reserved is for the longest of several. */
  async *#continuations(
    request: GenerationRequest,
    prompts: readonly RawPrompt[],
    slot: number,
    signal: AbortSignal,
  ): AsyncGenerator<GenerationEvent, void, undefined> {
    if (prompts.length > 1) yield { type: "start" };
    for (const [at, raw] of prompts.entries()) {
      const prompt = await this.#prompts.ready(raw, signal);
      for (let nth = 0; nth < request.choices; nth++) {
        const turn = { choice: at * request.choices + nth, nth, prompt };
        for await (const event of this.#choice(request, slot, turn, signal)) {
          const isTold = prompts.length > 1 || nth > 0;
          if (isTold && (event.type === "start" || event.type === "progress")) continue;
          yield event;
        }
      }
    }
  }

  async *#choice(
    request: GenerationRequest,
    slot: number,
    turn: Turn,
    signal: AbortSignal,
  ): AsyncGenerator<GenerationEvent, void, undefined> {
    const { choice, nth, prompt } = turn;
    const [path, body] =
      prompt === undefined
        ? ["/v1/chat/completions", chatBody(request, slot, nth, this.facts.template)]
        : ["/v1/completions", completionBody(request, prompt, slot, nth)];
    const call = this.#call(signal);
    try {
      call.clock.wait();
      const answer = await this.#parts.client.open(path, body, call.signal);
      if (answer.status !== 200) {
        const refusal = await readJson(answer);
        const schemaOf = request.json || !request.offer ? "response_format" : "tools";
        throw withMediumOf(engineError(refusal.status, refusal.body, schemaOf), request.messages);
      }
      const { offer, topLogprobs } = request;
      const calls = offer && new CallReader(offer, choice);
      const stop = stopOf(request);
      const isRaw = prompt !== undefined;
      const events = readStream(answer.bytes, { choice, topLogprobs, calls, stop, isRaw });
      for (;;) {
        call.clock.wait();
        const next = await events.next();
        call.clock.rest();
        if (next.done) break;
        this.#learn(next.value);
        yield next.value;
      }
    } catch (error) {
      const explained = await this.#explain(error, call.signal);
      throw prompt === undefined ? explained : aboutPrompt(explained);
    } finally {
      call.end();
    }
  }

  async #ask(path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    const call = this.#call(signal);
    let answer: JsonAnswer;
    try {
      call.clock.wait();
      answer = await this.#parts.client.post(path, body, call.signal);
    } catch (error) {
      throw await this.#explain(error, call.signal);
    } finally {
      call.end();
    }
    if (answer.status !== 200) {
      const error = engineError(answer.status, answer.body);
      throw withReasonOf(error, this.#parts.process.lastLines());
    }
    return answer.body;
  }

  /** One request's own signal: fired by the caller's, by silence, and at its end. */
  #call(signal: AbortSignal): { signal: AbortSignal; clock: StallClock; end(): void } {
    if (signal.aborted) throw cancelled(signal.reason);
    const own = new AbortController();
    const onAbort = () => own.abort(cancelled(signal.reason));
    signal.addEventListener("abort", onAbort, { once: true });
    const { stallMs } = this.#parts;
    const clock = new StallClock(stallMs, () => own.abort(stalled(stallMs)));
    return {
      signal: own.signal,
      clock,
      end() {
        clock.stop();
        signal.removeEventListener("abort", onAbort);
        own.abort(OVER);
      },
    };
  }

  #learn(event: GenerationEvent): void {
    if (event.type !== "usage" || !event.timings) return;
    const { prefillTokens, prefillMs } = event.timings;
    if (prefillTokens !== undefined && prefillMs !== undefined) {
      this.#parts.onPrefill(prefillTokens, prefillMs);
    }
  }

  async #explain(error: unknown, signal: AbortSignal): Promise<SomnusError> {
    if (signal.aborted && signal.reason instanceof SomnusError) return signal.reason;
    if (error instanceof SomnusError) return withReasonOf(error, this.#parts.process.lastLines());
    const exit = await within(this.exited, DEATH_NOTICE_MS);
    return exit === undefined ? brokenAnswer(error) : exitError(exit);
  }
}

function cancelled(reason: unknown): SomnusError {
  return reason instanceof SomnusError
    ? reason
    : new SomnusError("cancelled", "The request was cancelled.", { cause: reason });
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
