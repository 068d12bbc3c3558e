import { SomnusError } from "../http/errors.js";
import type { AskedGeneration } from "./generation.js";

/**
 * That the texts of a conversation have at most `limit` characters together (UTF-16 units).
 * @param field the one that holds the conversation
 * @throws SomnusError invalid_request naming it
 */
export function requirePromptWithin(
  messages: AskedGeneration["messages"],
  limit: number,
  field = "messages",
): void {
  let characters = 0;
  for (const message of messages) {
    for (const part of message.parts) characters += part.type === "text" ? part.text.length : 0;
    for (const call of message.calls ?? []) characters += call.arguments.length;
  }
  if (characters > limit) {
    throw new SomnusError(
      "invalid_request",
      `The messages have ${characters} characters; the limit is ${limit} (limits.max_prompt_chars).`,
      { param: field },
    );
  }
}
