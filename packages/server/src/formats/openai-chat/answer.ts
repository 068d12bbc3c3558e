import type { ChatToolCall, TokenLogprob, Usage } from "@somnus/contract";
import type { TokenUsage, ToolCall } from "../generation.js";

/** What every response object of one answer carries. */
export interface AnswerHead {
  id: string;
  /** Unix seconds. */
  created: number;
  /** The id of the model that answers. */
  model: string;
}

/** Token counts of all choices in the wire's form: the prompt once, the answers together. */
export function writeUsage(usages: readonly TokenUsage[]): Usage {
  const reasoning = usages.flatMap(({ reasoningTokens }) => reasoningTokens ?? []);
  const first = usages[0] ?? { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
  const completion = usages.reduce((sum, usage) => sum + usage.completionTokens, 0);
  return {
    prompt_tokens: first.promptTokens,
    completion_tokens: completion,
    total_tokens: first.promptTokens + completion,
    ...(first.cachedTokens > 0
      ? { prompt_tokens_details: { cached_tokens: first.cachedTokens } }
      : {}),
    ...(reasoning.length > 0
      ? { completion_tokens_details: { reasoning_tokens: reasoning.reduce((a, b) => a + b) } }
      : {}),
  };
}

/** Log probabilities with as many alternatives as were asked for. */
export function writeLogprobs(
  logprobs: readonly TokenLogprob[],
  top: number,
): { content: TokenLogprob[]; refusal: null } {
  return {
    content: logprobs.map((entry) => ({
      ...entry,
      top_logprobs: entry.top_logprobs.slice(0, top),
    })),
    refusal: null,
  };
}

/** A call in the wire's form. */
export function writeToolCall({ id, name, arguments: text }: ToolCall): ChatToolCall {
  return { id, type: "function", function: { name, arguments: text } };
}
