import type { ChatChunk, Telemetry } from "@somnus/contract";
import type { GenerationEvent, TokenUsage } from "../generation.js";
import { unfinished } from "../stream-error.js";
import { type AnswerHead, writeLogprobs, writeToolCall, writeUsage } from "./answer.js";

type ChunkChoice = ChatChunk["choices"][number];

const DELTA_FIELDS = {
  text: "content",
  reasoning: "reasoning_content",
  refusal: "refusal",
} as const;

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
  const opened = new Set<number>();
  let finished = 0;
  let last: ChatChunk | null = null;
  for await (const event of events) {
    if (event.type === "usage") {
      usages.push(event.usage);
      continue;
    }
    if (event.type === "start" || event.type === "progress" || event.type === "calling") continue;
    if (event.type === "reasoning" && !options.showThoughts) continue;
    if (!opened.has(event.choice)) {
      opened.add(event.choice);
      yield chunk({
        index: event.choice,
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
      delta: { [DELTA_FIELDS[event.type]]: event.text },
      ...(event.type === "text" && topLogprobs !== undefined
        ? { logprobs: writeLogprobs(event.logprobs ?? [], topLogprobs) }
        : {}),
      finish_reason: null,
    });
  }
  if (last === null) {
    throw unfinished();
  }
  const usage = writeUsage(usages);
  yield { ...last, usage, hypnos_telemetry: options.telemetry() };
  if (options.includeUsage) {
    yield { ...head, object: "chat.completion.chunk", choices: [], usage };
  }
}
