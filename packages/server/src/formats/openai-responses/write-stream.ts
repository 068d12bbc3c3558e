import type {
  ResponsesAnswer,
  ResponsesEvent,
  ResponsesOutputItem,
  Telemetry,
} from "@somnus/contract";
import type { ErrorCode, SomnusError } from "../../http/errors.js";
import type { FinishReason, GenerationEvent, TokenUsage } from "../generation.js";
import { unfinished } from "../stream-error.js";
import {
  type ItemEnd,
  type OpenItem,
  OpenMessage,
  OpenRefusal,
  OpenSummary,
  OpenThoughts,
  type Unnumbered,
  writeCall,
} from "./open-item.js";
import type { Echo, ThoughtsShown } from "./read-request.js";
import { namesInSpaces, type WireName } from "./tool-names.js";
import { writeError } from "./write-error.js";
import { writeUsage } from "./write-usage.js";

/** What every response object of one answer carries. */
export interface ResponsesHead {
  id: string;
  /** Unix seconds. */
  createdAt: number;
  /** The id of the model that answers. */
  model: string;
  echo: Echo;
}

type ItemKind = "text" | "reasoning" | "refusal";

type End = Pick<ResponsesAnswer, "status" | "error" | "incomplete_details" | "completed_at">;

const OPEN: End = {
  status: "in_progress",
  error: null,
  incomplete_details: null,
  completed_at: null,
};

/** How it is told that an answer is not whole. */
const CUT = {
  stop: null,
  tool_calls: null,
  length: "max_output_tokens",
  content_filter: "content_filter",
} as const;

/**
 * Writes one generation as the events of a response: `response.created` and `response.in_progress`,
 * the items one after the other with their parts, and the event that ends it. It always knows the
 * response as far as it is, so that silence and failures can be told at any time.
 */
export class ResponsesWriter {
  readonly #head: ResponsesHead;
  readonly #inSpaces: ReadonlyMap<string, WireName>;
  readonly #thoughts: ThoughtsShown;
  readonly #topLogprobs: number | undefined;
  readonly #now: () => number;
  readonly #items: ResponsesOutputItem[] = [];
  #open: OpenItem | null = null;
  #openKind: ItemKind | null = null;
  #sequence = 0;
  #created = false;
  #begun = false;
  #thought = false;
  #usage: TokenUsage | null = null;
  #telemetry: Telemetry | null = null;
  #end: End = OPEN;

  /** @param now Unix seconds */
  constructor(
    head: ResponsesHead,
    how: { thoughts: ThoughtsShown; topLogprobs: number | undefined; now: () => number },
  ) {
    this.#head = head;
    this.#inSpaces = namesInSpaces(head.echo.tools);
    this.#thoughts = how.thoughts;
    this.#topLogprobs = how.topLogprobs;
    this.#now = how.now;
  }

  /** Whether `response.created` was given out. */
  get isCreated(): boolean {
    return this.#created;
  }

  /** Whether it has ended, in whatever way. */
  get isOver(): boolean {
    return this.#end.status !== "in_progress";
  }

  /** The response as far as it is, put together anew each time. */
  get response(): ResponsesAnswer {
    const { id, createdAt, model, echo } = this.#head;
    const { status } = this.#end;
    const ended = status === "in_progress" ? status : "incomplete";
    const last = this.#open?.item(ended);
    const usage = this.#usage && writeUsage(this.#usage, this.#thought);
    return {
      id,
      object: "response",
      created_at: createdAt,
      ...this.#end,
      model,
      output: [...this.#items, ...(last ? [last] : [])],
      ...echo,
      truncation: "disabled",
      background: false,
      ...(usage ? { usage } : {}),
      ...(this.#telemetry ? { hypnos_telemetry: this.#telemetry } : {}),
    };
  }

  /**
   * The events of a generation.
   * @throws SomnusError engine_failed when the engine ended the answer without saying why, and what `events` throws
   */
  async *write(
    events: AsyncIterable<GenerationEvent>,
    telemetry: () => Telemetry,
  ): AsyncGenerator<ResponsesEvent, void, void> {
    let reason: FinishReason | null = null;
    for await (const event of events) {
      yield* this.#begin();
      if (event.type === "usage") this.#usage = event.usage;
      else if (event.type === "finish") reason = event.reason;
      else yield* this.#numbered(this.#piece(event));
    }
    if (reason === null) {
      throw unfinished();
    }
    const cut = CUT[reason];
    const how: ItemEnd = cut ? "incomplete" : "completed";
    if (this.#items.length === 0 && this.#open === null) {
      yield* this.#numbered(this.#turnTo("text"));
    }
    yield* this.#numbered(this.#close(how));
    this.#telemetry = telemetry();
    this.#end = {
      status: how,
      error: null,
      incomplete_details: cut ? { reason: cut } : null,
      completed_at: how === "completed" ? this.#now() : null,
    };
    yield this.#number({ type: `response.${how}`, response: this.response });
  }

  /** What fills silence: the first event where there was none yet, else the response as far as it is. */
  silence(): ResponsesEvent {
    if (!this.#created) return this.#create();
    this.#begun = true;
    return this.#number({ type: "response.in_progress", response: this.response });
  }

  /** The event that ends a response which failed or was cancelled. */
  fail(error: SomnusError): ResponsesEvent {
    const cancelled = error.code === ("cancelled" satisfies ErrorCode);
    this.#end = {
      ...OPEN,
      status: cancelled ? "cancelled" : "failed",
      error: cancelled ? null : writeError(error),
    };
    if (this.#created) {
      return this.#number({ type: "response.failed", response: this.response });
    }
    const { wireCode, type } = error.kind;
    return this.#number({
      type: "error",
      code: wireCode ?? type,
      message: error.message,
      param: error.param ?? null,
    });
  }

  #piece(event: Exclude<GenerationEvent, { type: "usage" | "finish" }>): Unnumbered[] {
    switch (event.type) {
      case "start":
      case "progress":
      case "calling":
        return [];
      case "reasoning":
        this.#thought = true;
        if (this.#thoughts === "none") return [];
        return [...this.#turnTo("reasoning"), ...(this.#open?.add(event.text, []) ?? [])];
      case "refusal":
        return [...this.#turnTo("refusal"), ...(this.#open?.add(event.text, []) ?? [])];
      case "text": {
        const opening = this.#turnTo("text");
        const top = this.#topLogprobs;
        const logprobs = (top === undefined ? [] : (event.logprobs ?? [])).map((one) => ({
          ...one,
          bytes: one.bytes ?? [],
          top_logprobs: one.top_logprobs
            .slice(0, top)
            .map((other) => ({ ...other, bytes: other.bytes ?? [] })),
        }));
        return [...opening, ...(this.#open?.add(event.text, logprobs) ?? [])];
      }
      case "call": {
        const closing = this.#close("completed");
        const place = { responseId: this.#head.id, index: this.#items.length };
        const { item, events } = writeCall(event.call, this.#called(event.call.name), place);
        this.#items.push(item);
        return [...closing, ...events];
      }
    }
  }

  #called(name: string): WireName {
    return this.#inSpaces.get(name) ?? { name };
  }

  /** Closes an item of the other kind and opens one, where none is open. */
  #turnTo(kind: ItemKind): Unnumbered[] {
    if (this.#openKind === kind) return [];
    const closing = this.#close("completed");
    const place = { responseId: this.#head.id, index: this.#items.length };
    if (kind === "text") this.#open = new OpenMessage(place);
    else if (kind === "refusal") this.#open = new OpenRefusal(place);
    else this.#open = new (this.#thoughts === "summary" ? OpenSummary : OpenThoughts)(place);
    this.#openKind = kind;
    return [...closing, ...this.#open.begin()];
  }

  #close(how: ItemEnd): Unnumbered[] {
    const open = this.#open;
    if (!open) return [];
    this.#open = null;
    this.#openKind = null;
    this.#items.push(open.item(how));
    return open.end(how);
  }

  *#begin(): Generator<ResponsesEvent, void, void> {
    if (!this.#created) yield this.#create();
    if (this.#begun) return;
    this.#begun = true;
    yield this.#number({ type: "response.in_progress", response: this.response });
  }

  #create(): ResponsesEvent {
    this.#created = true;
    return this.#number({ type: "response.created", response: this.response });
  }

  *#numbered(events: readonly Unnumbered[]): Generator<ResponsesEvent, void, void> {
    for (const event of events) yield this.#number(event);
  }

  #number(event: Unnumbered): ResponsesEvent {
    return { ...event, sequence_number: this.#sequence++ } as ResponsesEvent;
  }
}
