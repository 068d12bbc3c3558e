import { SomnusError } from "../http/errors.js";
import type { AskedGeneration } from "./generation.js";

/** Most messages, parts and calls of one conversation; each is some tokens of the prompt, however little it says. */
const MOST_PIECES = 65_536;

/**
 * That the texts of a conversation have at most `limit` characters together (UTF-16 units), names and ids of calls
 * included, and that it has no more pieces than a prompt can have.
 * @param field the one that holds the conversation
 * @throws SomnusError invalid_request naming it
 */
export function requirePromptWithin(
  messages: AskedGeneration["messages"],
  limit: number,
  field = "messages",
): void {
  let characters = 0;
  let pieces = messages.length;
  for (const { parts, calls = [], result } of messages) {
    pieces += parts.length + calls.length;
    for (const part of parts) characters += part.type === "text" ? part.text.length : 0;
    for (const { id, name, arguments: text } of calls) {
      characters += id.length + name.length + text.length;
    }
    characters += result ? result.callId.length + result.name.length : 0;
  }
  if (pieces > MOST_PIECES) {
    throw new SomnusError(
      "invalid_request",
      `There are ${pieces} messages, parts and calls; at most ${MOST_PIECES} go at once.`,
      { param: field },
    );
  }
  if (characters > limit) {
    throw new SomnusError(
      "invalid_request",
      `The messages have ${characters} characters; the limit is ${limit} (limits.max_prompt_chars).`,
      { param: field },
    );
  }
}
