import { ORDER } from "./three-tools.js";

/** How a format of the wire says which tool comes next. */
export type Choices = (name: string | undefined) => unknown;

export const CHAT_CHOICES: Choices = (name) =>
  name === undefined ? "none" : { type: "function", function: { name } };
export const RESPONSES_CHOICES: Choices = (name) =>
  name === undefined ? "none" : { type: "function", name };
export const MESSAGES_CHOICES: Choices = (name) =>
  name === undefined ? { type: "none" } : { type: "tool", name, disable_parallel_tool_use: true };

/**
 * The transport of a client whose model is too small to choose well: the n-th request that is not refused asks for
 * the n-th tool by `tool_choice`, the one after the last for none. Client and server know nothing of it, and what the tools
 * are called with is the model's. Temperature 0, so that a test gives the same twice.
 */
export function steeringFetch(choices: Choices): typeof fetch {
  let step = 0;
  return async (input, init) => {
    if (typeof init?.body !== "string") return fetch(input, init);
    const body = JSON.parse(init.body);
    const fields = { ...body, temperature: 0, tool_choice: choices(ORDER[step]) };
    const response = await fetch(input, { ...init, body: JSON.stringify(fields) });
    // A client that finds something refused asks again without it.
    if (response.ok) step++;
    return response;
  };
}
