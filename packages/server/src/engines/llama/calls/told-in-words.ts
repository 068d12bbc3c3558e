import type { GenerationMessage, MessagePart, Tool, ToolCall } from "../../../formats/index.js";

/**
 * A conversation for a model whose template knows no functions: those on offer stand in the system message,
 * calls and their results are text.
 * @param tools on offer; none where the conversation only looks back on calls
 */
export function toldInWords(
  messages: readonly GenerationMessage[],
  tools: readonly Tool[],
): GenerationMessage[] {
  const told: GenerationMessage[] = [];
  for (const message of messages) {
    const before = told.at(-1);
    if (message.role !== "tool") told.push(callsAsText(message));
    // Several results in a row are one message, as several calls are.
    else if (before && before.role === "user" && isResult(before)) {
      before.parts.push(...resultParts(message, "\n"));
    } else told.push({ role: "user", parts: resultParts(message) });
  }
  return tools.length === 0 ? told : withSystemText(told, introduce(tools));
}

const RESULT = "<tool_response>";

function isResult({ parts: [first] }: GenerationMessage): boolean {
  return first?.type === "text" && first.text.startsWith(RESULT);
}

/** A result between its tags; its pictures stay where they stand in it. */
function resultParts({ parts }: GenerationMessage, before = ""): MessagePart[] {
  const told: MessagePart[] = [];
  let text = `${before}${RESULT}`;
  for (const part of parts) {
    if (part.type === "text") text += `\n${part.text}`;
    else {
      told.push({ type: "text", text: `${text}\n` }, part);
      text = "";
    }
  }
  const ending = parts.length === 0 ? "\n\n" : "\n";
  told.push({ type: "text", text: `${text}${ending}</tool_response>` });
  return told;
}

function callsAsText(message: GenerationMessage): GenerationMessage {
  const { calls, ...rest } = message;
  if (!calls?.length) return rest;
  const text = calls.map(callText).join("\n");
  const before = message.parts.some((part) => part.type !== "text" || part.text !== "") ? "\n" : "";
  return { ...rest, parts: [...message.parts, { type: "text", text: `${before}${text}` }] };
}

function callText({ name, arguments: args }: ToolCall): string {
  return `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${args}}\n</tool_call>`;
}

function introduce(tools: readonly Tool[]): string {
  const lines = tools.map(({ name, description, parameters }) =>
    JSON.stringify({ name, ...(description === undefined ? {} : { description }), parameters }),
  );
  return [
    "You can call these functions; each line describes one, its parameters as a JSON schema:",
    ...lines,
    "To call a function, answer with nothing but",
    '<tool_call>\n{"name": "the function", "arguments": {"a parameter": "its value"}}\n</tool_call>',
    `one for each call. The results come back as ${RESULT}. Answer in words when no function helps.`,
  ].join("\n");
}

function withSystemText(messages: GenerationMessage[], text: string): GenerationMessage[] {
  const [first, ...rest] = messages;
  if (first?.role !== "system") {
    return [{ role: "system", parts: [{ type: "text", text }] }, ...messages];
  }
  return [{ ...first, parts: [...first.parts, { type: "text", text: `\n\n${text}` }] }, ...rest];
}
