import type { TokenLogprob } from "@somnus/contract";
import { isObject, listOf } from "./json.js";

/** Log probabilities of tokens in OpenAI's form; entries that are none are left out. */
export function readLogprobs(content: unknown): TokenLogprob[] {
  return listOf(content).flatMap((entry): TokenLogprob[] => {
    const own = readLogprob(entry);
    if (own === null || !isObject(entry)) return [];
    const likely = listOf(entry.top_logprobs).flatMap((other) => readLogprob(other) ?? []);
    return [{ ...own, top_logprobs: likely }];
  });
}

function readLogprob(source: unknown): Omit<TokenLogprob, "top_logprobs"> | null {
  if (!isObject(source)) return null;
  const { token, logprob, bytes } = source;
  if (typeof token !== "string" || typeof logprob !== "number") return null;
  const own = listOf(bytes).filter((byte) => typeof byte === "number");
  return { token, logprob, bytes: Array.isArray(bytes) ? own : null };
}
