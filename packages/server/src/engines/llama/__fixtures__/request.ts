import type { GenerationRequest } from "../../../formats/index.js";

/** A request with one message, that asks for nothing but what it names. */
export function requestOf(
  text: string,
  more: Partial<GenerationRequest> & Pick<GenerationRequest, "maxTokens">,
): GenerationRequest {
  return {
    messages: [{ role: "user", parts: [{ type: "text", text }] }],
    sampling: {},
    stop: [],
    choices: 1,
    think: false,
    ...more,
  };
}
