import type { ChatChunk, Telemetry } from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import type { GenerationEvent, TokenUsage } from "../generation.js";
import { type AnswerHead, writeLogprobs, writeToolCall, writeUsage } from "./answer.js";

type ChunkChoice = ChatChunk["choices"][number];

/**
 * Writes a generation as chunks: for each choice the role, its pieces, each call whole, and a final chunk
 * with the finish reason; the last final chunk carries usage and telemetry. With `includeUsage` one more
 * chunk without choices carries the usage again, and all the others `usage: null`.
 * @throws SomnusError engine_failed when the engine ended a choice without saying why
 */
export async function* writeChatStream(
  events: AsyncIterable<GenerationEvent>,
  options: {
    head: AnswerHead;
    choices: number;
    showThoughts: boolean;
    includeUsage: boolean;
    topLogprobs: number | undefined;
    telemetry: () => Telemetry;
  },
): AsyncGenerator<ChatChunk, void, void> {
  const { head, topLogprobs } = options;
  const chunk = (choice: ChunkChoice): ChatChunk => ({
    id: head.id,
    object: "chat.completion.chunk",
    created: head.created,
    model: head.model,
    choices: [choice],
    ...(options.includeUsage ? { usage: null } : {}),
  });
  const usages: TokenUsage[] = [];
  const calls = new Map<number, number>();
  let opened = -1;
  let finished = 0;
  let last: ChatChunk | null = null;
  for await (const event of events) {
    if (event.type === "usage") {
      usages.push(event.usage);
      continue;
    }
    if (event.type === "start" || event.type === "progress") continue;
    if (event.type === "reasoning" && !options.showThoughts) continue;
    if (event.choice > opened) {
      opened = event.choice;
      yield chunk({
        index: opened,
        delta: { role: "assistant", content: "" },
        finish_reason: null,
      });
    }
    if (event.type === "finish") {
      finished++;
      const final = chunk({ index: event.choice, delta: {}, finish_reason: event.reason });
      // The last final chunk waits for the usage, which follows the finish.
      if (finished < options.choices) yield final;
      else last = final;
      continue;
    }
    if (event.type === "call") {
      const index = calls.get(event.choice) ?? 0;
      calls.set(event.choice, index + 1);
      yield chunk({
        index: event.choice,
        delta: { tool_calls: [{ index, ...writeToolCall(event.call) }] },
        finish_reason: null,
      });
      continue;
    }
    yield chunk({
      index: event.choice,
      delta: event.type === "text" ? { content: event.text } : { reasoning_content: event.text },
      ...(event.type === "text" && topLogprobs !== undefined
        ? { logprobs: writeLogprobs(event.logprobs ?? [], topLogprobs) }
        : {}),
      finish_reason: null,
    });
  }
  if (last === null) {
    throw new SomnusError("engine_failed", "The engine ended the answer without finishing it.");
  }
  const usage = writeUsage(usages);
  yield { ...last, usage, hypnos_telemetry: options.telemetry() };
  if (options.includeUsage) {
    yield { ...head, object: "chat.completion.chunk", choices: [], usage };
  }
}

/**
 * The chunk that ends a stream which failed after its head was sent; `choice` is the one that was
 * being answered.
 */
export function writeChatErrorChunk(
  head: AnswerHead,
  error: SomnusError,
  options: { choice: number; includeUsage: boolean },
): ChatChunk {
  return {
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: options.choice, delta: {}, finish_reason: "error" }],
    ...(options.includeUsage ? { usage: null } : {}),
    error: { message: error.message, type: error.kind.type },
  };
}
