import type { GenerationRequest, MessagePart, ToolCall } from "../../formats/index.js";

/** What stands in a slot's KV memory, message by message: enough to tell how much of it a request can reuse. */
export type Outline = readonly string[];

/** The outline of a request's prompt. */
export function outlineOf(request: GenerationRequest): Outline {
  const last = request.prompts?.at(-1);
  if (last) return ["raw", `raw\n${"text" in last ? last.text : last.tokens.join(" ")}`];
  const mode = request.think ? "think" : "plain";
  // Templates tell of functions before everything else.
  const outline = [request.offer ? `${mode}\n${JSON.stringify(request.offer.tools)}` : mode];
  for (const { role, parts, calls = [] } of request.messages) {
    outline.push(segment(role, parts.map(textOf).join("\n"), calls));
  }
  return outline;
}

/** The outline after the model answered: what the slot holds now. */
export function withAnswer(
  outline: Outline,
  answer: string,
  calls: readonly ToolCall[] = [],
): Outline {
  return [...outline, segment("assistant", answer, calls)];
}

/** A picture or a sound weighs as much as a text of about as many tokens, and agrees with none but itself. */
const DIGESTS = { picture: 32, sound: 56 };

function textOf(part: MessagePart): string {
  return part.type === "text" ? part.text : part.digest.repeat(DIGESTS[part.type]);
}

function segment(role: string, text: string, calls: readonly ToolCall[]): string {
  const called = calls.map((call) => `\n${call.name} ${call.arguments}`).join("");
  return `${role}\n${text}${called}`;
}

/** Characters of an outline; the measure of what a slot is worth. */
export function lengthOf(outline: Outline): number {
  let length = 0;
  for (const part of outline) length += part.length;
  return length;
}

/** How far two outlines agree from the start: whole segments, and characters over all. */
export function commonStart(a: Outline, b: Outline): { segments: number; characters: number } {
  let segments = 0;
  let characters = 0;
  while (segments < a.length && segments < b.length && a[segments] === b[segments]) {
    characters += a[segments]!.length;
    segments++;
  }
  if (segments < a.length && segments < b.length) {
    characters += commonCharacters(a[segments]!, b[segments]!);
  }
  return { segments, characters };
}

function commonCharacters(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let i = 0;
  while (i < end && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  return i;
}
