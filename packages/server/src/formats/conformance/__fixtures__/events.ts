import type { FinishReason, GenerationEvent, TokenUsage } from "../../generation.js";

export const text = (said: string, choice = 0): GenerationEvent => ({
  type: "text",
  choice,
  text: said,
});
export const thought = (said: string, choice = 0): GenerationEvent => ({
  type: "reasoning",
  choice,
  text: said,
});
export const refusal = (said: string): GenerationEvent => ({
  type: "refusal",
  choice: 0,
  text: said,
});
export const call = (id: string, args = '{"a":1}', choice = 0): GenerationEvent => ({
  type: "call",
  choice,
  call: { id, name: "add", arguments: args },
});
export const finish = (reason: FinishReason, choice = 0): GenerationEvent => ({
  type: "finish",
  choice,
  reason,
});
export const usage = (told: Partial<TokenUsage> = {}, choice = 0): GenerationEvent => ({
  type: "usage",
  choice,
  usage: { promptTokens: 9, completionTokens: 3, cachedTokens: 0, ...told },
});

/** The events, one at a time. */
export async function* each(events: readonly GenerationEvent[]): AsyncGenerator<GenerationEvent> {
  yield* events;
}

/** What can be compared: without what only tells of progress, and no counts of nothing. */
export function told(events: readonly GenerationEvent[]): GenerationEvent[] {
  return events.flatMap((event): GenerationEvent[] => {
    if (event.type === "start" || event.type === "progress" || event.type === "calling") return [];
    if (event.type === "text" && event.text === "" && !event.logprobs) return [];
    if (event.type === "reasoning" && event.text === "") return [];
    if (event.type !== "usage") return [event];
    const { reasoningTokens, ...counts } = event.usage;
    const own = reasoningTokens ? { ...counts, reasoningTokens } : counts;
    return [{ type: "usage", choice: event.choice, usage: own }];
  });
}

/** The same with pieces of one kind that follow each other as one. */
export function joined(events: readonly GenerationEvent[]): GenerationEvent[] {
  const all: GenerationEvent[] = [];
  for (const event of told(events)) {
    const last = all.at(-1);
    if (
      (event.type === "text" || event.type === "reasoning" || event.type === "refusal") &&
      last?.type === event.type &&
      last.choice === event.choice
    ) {
      all[all.length - 1] = { ...last, text: last.text + event.text };
    } else all.push(event);
  }
  return all;
}
