import type { CompletionResponse, Telemetry, TokenLogprob } from "@somnus/contract";
import type { FinishReason, GenerationEvent, TokenUsage } from "../generation.js";
import { unfinished } from "../stream-error.js";
import { type AnswerHead, finishReason, writeUsage } from "./answer.js";
import { TokenLists } from "./token-lists.js";

interface Choice {
  text: string[];
  logprobs: TokenLogprob[];
  reason: FinishReason | null;
}

/**
 * Joins a generation into one response.
 * @throws SomnusError engine_failed when the engine ended a choice without saying why
 */
export async function writeCompletionResponse(
  events: AsyncIterable<GenerationEvent>,
  options: {
    head: AnswerHead;
    /** Prompts of the request. */
    prompts: number;
    /** Choices that are generated for each prompt, and how many of them are answered: the most likely ones. */
    generated: number;
    best: number;
    /** What each prompt's answers begin with; empty: with nothing. */
    echoes: readonly string[];
    logprobs: number | undefined;
    telemetry: () => Telemetry;
  },
): Promise<CompletionResponse> {
  const { generated, best, echoes, logprobs } = options;
  const choices: Choice[] = Array.from({ length: options.prompts * generated }, () => ({
    text: [],
    logprobs: [],
    reason: null,
  }));
  const usages: TokenUsage[] = [];
  for await (const event of events) {
    switch (event.type) {
      case "text":
        choices[event.choice]!.text.push(event.text);
        if (event.logprobs) choices[event.choice]!.logprobs.push(...event.logprobs);
        break;
      case "finish":
        choices[event.choice]!.reason = event.reason;
        break;
      case "usage":
        usages.push(event.usage);
        break;
    }
  }
  const shown = Array.from({ length: options.prompts }, (_, prompt) =>
    mostLikely(choices.slice(prompt * generated, (prompt + 1) * generated), best),
  );
  return {
    ...options.head,
    object: "text_completion",
    choices: shown.flat().map((choice, index) => {
      if (choice.reason === null) {
        throw unfinished();
      }
      const echo = echoes[Math.floor(index / best)] ?? "";
      return {
        text: echo + choice.text.join(""),
        index,
        logprobs: logprobs === undefined ? null : new TokenLists(logprobs).write(choice.logprobs),
        finish_reason: finishReason(choice.reason),
      };
    }),
    usage: writeUsage(usages, generated),
    hypnos_telemetry: options.telemetry(),
  };
}

/** Those with the highest log probability per token, the best first; all of them in their order where none goes. */
function mostLikely(choices: readonly Choice[], count: number): readonly Choice[] {
  if (count >= choices.length) return choices;
  return [...choices].sort((a, b) => perToken(b) - perToken(a)).slice(0, count);
}

function perToken({ logprobs }: Choice): number {
  if (logprobs.length === 0) return Number.NEGATIVE_INFINITY;
  return logprobs.reduce((sum, { logprob }) => sum + logprob, 0) / logprobs.length;
}
