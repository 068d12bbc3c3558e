import type { CompletionChunk, Telemetry } from "@somnus/contract";
import type { GenerationEvent, TokenUsage } from "../generation.js";
import { unfinished } from "../stream-error.js";
import { type AnswerHead, finishReason, writeUsage } from "./answer.js";
import { TokenLists } from "./token-lists.js";

type ChunkChoice = CompletionChunk["choices"][number];

/**
 * Writes a generation as chunks: for each choice its prompt where it is echoed, its pieces, and a final chunk with
 * the finish reason; the last one carries usage and telemetry. With `includeUsage` one more chunk without choices
 * carries the usage again, and all the others `usage: null`.
 * @throws SomnusError engine_failed when the engine ended a choice without saying why
 */
export async function* writeCompletionStream(
  events: AsyncIterable<GenerationEvent>,
  options: {
    head: AnswerHead;
    /** Choices of all prompts together, and of each. */
    choices: number;
    generated: number;
    /** What each prompt's answers begin with; empty: with nothing. */
    echoes: readonly string[];
    includeUsage: boolean;
    logprobs: number | undefined;
    telemetry: () => Telemetry;
  },
): AsyncGenerator<CompletionChunk, void, void> {
  const { head, logprobs, generated } = options;
  const chunk = (choice: Partial<ChunkChoice> & { index: number }): CompletionChunk => ({
    ...head,
    object: "text_completion",
    choices: [{ text: "", logprobs: null, finish_reason: null, ...choice }],
    ...(options.includeUsage ? { usage: null } : {}),
  });
  const usages: TokenUsage[] = [];
  let opened = -1;
  let finished = 0;
  let lists: TokenLists | null = null;
  let last: CompletionChunk | null = null;
  for await (const event of events) {
    if (event.type === "usage") usages.push(event.usage);
    if (event.type !== "text" && event.type !== "finish") continue;
    const { choice: index } = event;
    if (index > opened) {
      opened = index;
      lists = logprobs === undefined ? null : new TokenLists(logprobs);
      const echo = options.echoes[Math.floor(index / generated)] ?? "";
      if (echo !== "") yield chunk({ index, text: echo });
    }
    if (event.type === "text") {
      const written = lists?.write(event.logprobs ?? []) ?? null;
      yield chunk({ index, text: event.text, logprobs: written });
      continue;
    }
    finished++;
    const final = chunk({ index, finish_reason: finishReason(event.reason) });
    // The last final chunk waits for the usage, which follows the finish.
    if (finished < options.choices) yield final;
    else last = final;
  }
  if (last === null) {
    throw unfinished();
  }
  const usage = writeUsage(usages, generated);
  yield { ...last, usage, hypnos_telemetry: options.telemetry() };
  if (options.includeUsage) yield { ...head, object: "text_completion", choices: [], usage };
}
