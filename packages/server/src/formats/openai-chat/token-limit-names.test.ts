import type { ChatRequest } from "@somnus/contract";
import { expect, it } from "vitest";
import { readChatRequest } from "./index.js";

const LIMITS = { max_prompt_chars: 100, max_tokens_cap: 50, default_max_tokens: 5 };

it.each<[Partial<ChatRequest>, number]>([
  [{}, 5],
  [{ max_output_tokens: 7 }, 7],
  [{ max_output_tokens: 7, max_tokens: 8 }, 8],
  [{ max_output_tokens: 7, max_tokens: 8, max_completion_tokens: 9 }, 9],
  [{ max_output_tokens: 70 }, 50],
  [{ max_output_tokens: null }, 5],
])("the limit of an answer goes by three names: %j", (fields, tokens) => {
  const messages: ChatRequest["messages"] = [{ role: "user", content: "Hello" }];
  expect(readChatRequest({ messages, ...fields }, LIMITS).generation.maxTokens).toBe(tokens);
});
