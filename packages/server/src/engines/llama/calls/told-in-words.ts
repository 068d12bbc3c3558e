import type { GenerationMessage, Tool, ToolCall } from "../../../formats/index.js";

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
      before.parts.push({ type: "text", text: `\n${resultText(message)}` });
    } else told.push({ role: "user", parts: [{ type: "text", text: resultText(message) }] });
  }
  return tools.length === 0 ? told : withSystemText(told, introduce(tools));
}

const RESULT = "<tool_response>";

function isResult(message: GenerationMessage): boolean {
  return message.parts[0]?.text.startsWith(RESULT) === true;
}

function resultText(message: GenerationMessage): string {
  const text = message.parts.map((part) => part.text).join("\n");
  return `${RESULT}\n${text}\n</tool_response>`;
}

function callsAsText(message: GenerationMessage): GenerationMessage {
  const { calls, ...rest } = message;
  if (!calls?.length) return rest;
  const text = calls.map(callText).join("\n");
  const before = message.parts.some((part) => part.text !== "") ? "\n" : "";
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
