import type { AnswerBlock, MessagesEvent, MessageUsage, Telemetry } from "@somnus/contract";
import type { FinishReason, GenerationEvent, TokenUsage, ToolCall } from "../generation.js";
import { unfinished } from "../stream-error.js";

/** What an answer of the Messages API begins with. */
export interface MessageHead {
  id: string;
  /** The id of the model that answers. */
  model: string;
}

export interface MessageOptions {
  head: MessageHead;
  showThoughts: boolean;
  telemetry: () => Telemetry;
}

/** Thoughts are not signed here; clients that send them back want to see that something stands there. */
const SIGNATURE = "unsigned";

/**
 * Writes a generation as events: the message, its blocks one after the other, why it ended with usage and
 * telemetry, and the end.
 * @throws SomnusError engine_failed when the engine ended the answer without saying why
 */
export async function* writeMessagesStream(
  events: AsyncIterable<GenerationEvent>,
  { head, showThoughts, telemetry }: MessageOptions,
): AsyncGenerator<MessagesEvent, void, void> {
  const blocks = new BlockWriter();
  let usage: TokenUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  let finish: Extract<GenerationEvent, { type: "finish" }> | null = null;
  let begun = false;
  for await (const event of events) {
    if (event.type === "usage") {
      usage = event.usage;
      continue;
    }
    if (event.type === "calling") continue;
    if (event.type === "start" || event.type === "progress") {
      const { promptTokens = usage.promptTokens, cachedTokens = usage.cachedTokens } = event;
      usage = { promptTokens, cachedTokens, completionTokens: 0 };
      continue;
    }
    if (event.type === "reasoning" && !showThoughts) continue;
    if (!begun) {
      begun = true;
      yield messageStart(head, usage);
    }
    switch (event.type) {
      case "reasoning":
        yield* blocks.thinking(event.text);
        break;
      case "text":
      case "refusal":
        yield* blocks.text(event.text);
        break;
      case "call":
        yield* blocks.call(event.call);
        break;
      case "finish":
        finish = event;
        yield* blocks.end();
        break;
    }
  }
  if (finish === null) {
    throw unfinished();
  }
  yield {
    type: "message_delta",
    delta: stopOf(finish),
    usage: writeMessageUsage(usage),
    hypnos_telemetry: telemetry(),
  };
  yield { type: "message_stop" };
}

/** Token counts in the wire's form: what came from the cache is not among `input_tokens`. */
export function writeMessageUsage(usage: TokenUsage): MessageUsage {
  const cached = Math.min(usage.cachedTokens, usage.promptTokens);
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.promptTokens - cached);
  return {
    input_tokens: usage.promptTokens - cached - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: usage.completionTokens,
  };
}

function messageStart(head: MessageHead, usage: TokenUsage): MessagesEvent {
  return {
    type: "message_start",
    message: {
      id: head.id,
      type: "message",
      role: "assistant",
      model: head.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: writeMessageUsage(usage),
    },
  };
}

const STOP_REASONS = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
} as const;

function stopOf({ reason, stop }: { reason: FinishReason; stop?: string }) {
  return reason === "stop" && stop !== undefined
    ? ({ stop_reason: "stop_sequence", stop_sequence: stop } as const)
    : { stop_reason: STOP_REASONS[reason], stop_sequence: null };
}

/** Opens and closes blocks: one at a time, and none that stays empty. */
class BlockWriter {
  #next = 0;
  #open: "thinking" | "text" | null = null;
  /** White space that would begin a text; it may turn out that nothing follows. */
  #held = "";

  *thinking(text: string): Generator<MessagesEvent> {
    if (text === "") return;
    if (this.#open !== "thinking") {
      yield* this.#close();
      yield* this.#begin("thinking", { type: "thinking", thinking: "", signature: "" });
    }
    yield this.#delta({ type: "thinking_delta", thinking: text });
  }

  *text(text: string): Generator<MessagesEvent> {
    if (text === "") return;
    let all = text;
    if (this.#open !== "text") {
      all = this.#held + text;
      if (all.trim() === "") {
        this.#held = all;
        return;
      }
      yield* this.#close();
      yield* this.#begin("text", { type: "text", text: "" });
    }
    yield this.#delta({ type: "text_delta", text: all });
  }

  *call({ id, name, arguments: json }: ToolCall): Generator<MessagesEvent> {
    yield* this.#close();
    yield* this.#begin(null, { type: "tool_use", id, name, input: {} });
    yield this.#delta({ type: "input_json_delta", partial_json: json });
    yield this.#stop();
  }

  *end(): Generator<MessagesEvent> {
    // An answer of white space alone is an answer.
    if (this.#next === 0 && this.#held !== "") {
      yield* this.#begin("text", { type: "text", text: "" });
      yield this.#delta({ type: "text_delta", text: this.#held });
    }
    yield* this.#close();
  }

  *#begin(open: "thinking" | "text" | null, block: AnswerBlock): Generator<MessagesEvent> {
    this.#open = open;
    yield { type: "content_block_start", index: this.#next++, content_block: block };
  }

  *#close(): Generator<MessagesEvent> {
    this.#held = "";
    if (this.#open === null) return;
    if (this.#open === "thinking") {
      yield this.#delta({ type: "signature_delta", signature: SIGNATURE });
    }
    this.#open = null;
    yield this.#stop();
  }

  #delta(delta: Extract<MessagesEvent, { type: "content_block_delta" }>["delta"]): MessagesEvent {
    return { type: "content_block_delta", index: this.#next - 1, delta };
  }

  #stop(): MessagesEvent {
    return { type: "content_block_stop", index: this.#next - 1 };
  }
}
