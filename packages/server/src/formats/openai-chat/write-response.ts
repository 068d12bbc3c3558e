import type { ChatResponse, Telemetry, TokenLogprob } from "@somnus/contract";
import type { FinishReason, GenerationEvent, TokenUsage, ToolCall } from "../generation.js";
import { unfinished } from "../stream-error.js";
import { type AnswerHead, writeLogprobs, writeToolCall, writeUsage } from "./answer.js";

interface Choice {
  text: string[];
  thoughts: string[];
  refusal: string[];
  logprobs: TokenLogprob[];
  calls: ToolCall[];
  reason: FinishReason | null;
}

/**
 * Joins a generation into one response.
 * @throws SomnusError engine_failed when the engine ended a choice without saying why
 */
export async function writeChatResponse(
  events: AsyncIterable<GenerationEvent>,
  options: {
    head: AnswerHead;
    choices: number;
    showThoughts: boolean;
    topLogprobs: number | undefined;
    telemetry: () => Telemetry;
  },
): Promise<ChatResponse> {
  const choices: Choice[] = Array.from({ length: options.choices }, () => ({
    text: [],
    thoughts: [],
    refusal: [],
    logprobs: [],
    calls: [],
    reason: null,
  }));
  const usages: TokenUsage[] = [];
  for await (const event of events) {
    switch (event.type) {
      case "text":
        choices[event.choice]!.text.push(event.text);
        if (event.logprobs) choices[event.choice]!.logprobs.push(...event.logprobs);
        break;
      case "reasoning":
        if (options.showThoughts) choices[event.choice]!.thoughts.push(event.text);
        break;
      case "refusal":
        choices[event.choice]!.refusal.push(event.text);
        break;
      case "call":
        choices[event.choice]!.calls.push(event.call);
        break;
      case "finish":
        choices[event.choice]!.reason = event.reason;
        break;
      case "usage":
        usages.push(event.usage);
        break;
    }
  }
  return {
    ...options.head,
    object: "chat.completion",
    choices: choices.map((choice, index) => {
      if (choice.reason === null) {
        throw unfinished();
      }
      return {
        index,
        message: {
          role: "assistant",
          content: choice.text.join(""),
          ...(choice.thoughts.length > 0 ? { reasoning_content: choice.thoughts.join("") } : {}),
          refusal: choice.refusal.length > 0 ? choice.refusal.join("") : null,
          ...(choice.calls.length > 0 ? { tool_calls: choice.calls.map(writeToolCall) } : {}),
        },
        ...(options.topLogprobs === undefined
          ? {}
          : { logprobs: writeLogprobs(choice.logprobs, options.topLogprobs) }),
        finish_reason: choice.reason,
      };
    }),
    usage: writeUsage(usages),
    hypnos_telemetry: options.telemetry(),
  };
}
