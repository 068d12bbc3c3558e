import type { EngineFacts, Loaded, LoadFacts, Ranks, TokenFrame } from "../../engines/index.js";
import type { GenerationEvent, GenerationRequest, ToolCall } from "../../formats/index.js";
import { SomnusError } from "../../http/errors.js";
import type { MemoryTier, Placement } from "../../memory/index.js";
import { type Outline, withAnswer } from "../state/outline.js";
import type { Schedulable } from "./schedulable.js";

/** What happened before a lease was granted. Durations in ms. */
export interface AdmissionFacts {
  /** Where the model was when the request arrived. */
  previousTier: MemoryTier;
  /** Waited for a slot or for context, loading excluded. */
  queueMs: number;
  /** Waited for the model to load, or to be loaded anew; 0 when it was ready all the time. */
  loadMs: number;
  /** The load that this request caused, and the models that had to go for it. */
  load?: LoadFacts;
  /** Conversations that came back with that load. */
  restored?: { ms: number; tokens: number };
  evicted?: readonly string[];
  /** What is booked for the model; absent when its memory is not planned. */
  placement?: Placement;
  /** Of its weights, held in tier 2 beside its engine. */
  keptBytes: number;
}

/** What the scheduler wants to hear from a lease. */
export interface LeaseEvents {
  promptMeasured(promptTokens: number): void;
  output(): void;
  /** The model that is likely to be asked for next. */
  next(model: Schedulable): void;
  failed(error: unknown): void;
  /**
   * Once. `outline`: what the slot holds now, about so many `tokens`; null when the engine has not begun with
   * the prompt.
   */
  released(outline: Outline | null, tokens: number, answered: boolean): void;
}

/** A request's right to a resident model. While it is held the model cannot leave; give it back once. */
export class Lease {
  /** Slots busy at most while this lease was held. */
  concurrentSlots = 1;
  #answer = "";
  #calls: ToolCall[] = [];
  #choice = 0;
  #answered = false;
  #touched = false;
  #measured = false;
  #promptTokens = 0;
  #generated = 0;
  #released = false;

  constructor(
    readonly model: string,
    readonly slot: number,
    /** Tokens of context reserved. */
    readonly contextTokens: number,
    /** Tokens that may be generated within the reservation. */
    readonly maxTokens: number,
    readonly admission: AdmissionFacts,
    private readonly loaded: Loaded,
    private readonly outline: Outline,
    private readonly events: LeaseEvents,
  ) {}

  /** What the engine that answers is. */
  get facts(): EngineFacts {
    return this.loaded.facts;
  }

  /**
   * Runs the request in the lease's slot. `observe` sees every event before the reader does.
   * @throws SomnusError
   */
  async *generate(
    request: GenerationRequest,
    signal: AbortSignal,
    observe: (event: GenerationEvent) => void = () => {},
  ): AsyncGenerator<GenerationEvent, void, void> {
    const bounded = { ...request, maxTokens: Math.min(request.maxTokens, this.maxTokens) };
    try {
      for await (const event of this.loaded.generate(bounded, this.slot, signal)) {
        this.#watch(event);
        observe(event);
        yield event;
      }
    } catch (error) {
      this.events.failed(error);
      throw error;
    }
  }

  /** As `Loaded.embed`. @throws SomnusError */
  async embed(
    inputs: readonly (readonly number[])[],
    signal: AbortSignal,
  ): Promise<Float32Array[]> {
    const vectors = await this.#engine(({ embed }) => embed?.(inputs, signal));
    this.#answered = true;
    return vectors;
  }

  /** As `Loaded.rank`. @throws SomnusError */
  async rank(query: string, texts: readonly string[], signal: AbortSignal): Promise<Ranks> {
    const ranks = await this.#engine(({ rank }) => rank?.(query, texts, signal));
    this.#answered = true;
    return ranks;
  }

  /** As `Loaded.tokenize`. @throws SomnusError */
  tokenize(texts: readonly string[], signal: AbortSignal): Promise<number[][]> {
    return this.#engine((loaded) => loaded.tokenize(texts, signal));
  }

  /** As `Loaded.frame`. @throws SomnusError */
  frame(signal: AbortSignal): Promise<TokenFrame> {
    return this.#engine((loaded) => loaded.frame(signal));
  }

  /** As `Loaded.detokenize`. @throws SomnusError */
  detokenize(tokens: readonly number[], signal: AbortSignal): Promise<string> {
    return this.#engine((loaded) => loaded.detokenize(tokens, signal));
  }

  /** As `Loaded.count`. @throws SomnusError */
  count(request: GenerationRequest, signal: AbortSignal): Promise<number> {
    return this.#engine((loaded) => loaded.count(request, signal));
  }

  /** Tells how many tokens of what is reserved are needed: the others are given to who waits. */
  needs(tokens: number): void {
    if (!this.#released) this.events.promptMeasured(tokens);
  }

  async #engine<Answer>(ask: (loaded: Loaded) => Promise<Answer> | undefined): Promise<Answer> {
    try {
      const asked = ask(this.loaded);
      if (asked === undefined) {
        throw new SomnusError("internal", "The model was loaded for something else.");
      }
      const answer = await asked;
      this.events.output();
      return answer;
    } catch (error) {
      this.events.failed(error);
      throw error;
    }
  }

  #watch(event: GenerationEvent): void {
    this.events.output();
    switch (event.type) {
      case "start":
      case "progress":
        this.#touched = true;
        this.#promptTokens = event.promptTokens ?? this.#promptTokens;
        if (event.promptTokens !== undefined && !this.#measured) {
          this.#measured = true;
          this.events.promptMeasured(event.promptTokens);
        }
        break;
      case "text":
        this.#turnTo(event.choice);
        this.#answer += event.text;
        this.#generated++;
        break;
      case "call":
        this.#turnTo(event.choice);
        this.#calls.push(event.call);
        this.#generated++;
        break;
      case "reasoning":
        this.#generated++;
        break;
      case "usage":
        this.#promptTokens = event.usage.promptTokens;
        this.#generated = Math.max(this.#generated, event.usage.completionTokens);
        break;
      case "finish":
        this.#answered = true;
        break;
    }
  }

  /** Of several choices the slot is left with the last one. */
  #turnTo(choice: number): void {
    if (choice === this.#choice) return;
    this.#choice = choice;
    this.#answer = "";
    this.#calls = [];
  }

  /** Tells which model is likely to be asked for next: it is loaded meanwhile where that hurts nobody. */
  expectNext(model: Schedulable): void {
    if (!this.#released) this.events.next(model);
  }

  /** Gives the slot and its context back; further calls do nothing. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    const isEmpty = this.#answer === "" && this.#calls.length === 0;
    const held = isEmpty ? this.outline : withAnswer(this.outline, this.#answer, this.#calls);
    const tokens = this.#promptTokens + this.#generated;
    this.events.released(this.#touched ? held : null, tokens, this.#answered);
  }
}
