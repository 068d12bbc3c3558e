import type { ToolCall } from "../../../formats/index.js";
import { isObjectText, membersOf } from "./json-text.js";

/** A call as a model wrote it. */
export type WrittenCall = Omit<ToolCall, "id">;

/**
 * A call that a model wrote as a JSON object: `{"name", "arguments"}`, as Llama's models do with
 * `parameters`, or inside OpenAI's `function`.
 * @param offered names of the functions on offer
 * @returns null when it is something else, or calls no function on offer
 */
export function readWrittenCall(json: string, offered: ReadonlySet<string>): WrittenCall | null {
  let members = membersOf(json);
  const wrapped = members?.get("function");
  if (wrapped?.startsWith("{")) members = membersOf(wrapped);
  if (!members) return null;
  const name = text(members.get("name"));
  if (name === null || !offered.has(name)) return null;
  const given = members.get("arguments") ?? members.get("parameters") ?? "{}";
  const args = text(given) ?? given;
  return isObjectText(args) ? { name, arguments: args } : null;
}

/** The string that a JSON text is; null for any other value. */
function text(json: string | undefined): string | null {
  return json?.startsWith('"') ? (JSON.parse(json) as string) : null;
}
