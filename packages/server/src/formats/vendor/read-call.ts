import { randomUUID } from "node:crypto";
import type { FinishReason, ToolCall } from "../generation.js";
import { isObject } from "../is-object.js";
import { unreadable } from "./failure.js";

/** A call of which more may come. */
export interface PartialCall {
  id: string;
  name: string;
  arguments: string;
}

/**
 * The call as a whole one; null where the answer was cut in it. No arguments are an empty object. A call without an
 * id gets one.
 * @param reason why the answer ended
 * @throws VendorError when it is not whole although the answer is
 */
export function wholeCall(call: PartialCall, reason: FinishReason): ToolCall | null {
  const cut = reason === "length" || reason === "content_filter";
  const text = call.arguments.trim() === "" && !cut ? "{}" : call.arguments;
  if (call.name !== "" && isObjectText(text)) {
    const id = call.id === "" ? `call_${randomUUID().replaceAll("-", "")}` : call.id;
    return { id, name: call.name, arguments: text };
  }
  if (cut) return null;
  throw unreadable(
    call.name === ""
      ? "It called a function without naming it."
      : "It called a function with arguments that are no JSON object.",
  );
}

/** Why the answer ended, made true to what it holds: some say that there are calls where there are none, or not. */
export function reasonBeside(reason: FinishReason, calls: number): FinishReason {
  if (reason === "stop" || reason === "tool_calls") return calls > 0 ? "tool_calls" : "stop";
  return reason;
}

function isObjectText(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}
