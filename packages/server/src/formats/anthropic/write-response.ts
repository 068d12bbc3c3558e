import type { AnswerBlock, MessagesEvent, MessagesResponse } from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import type { GenerationEvent } from "../generation.js";
import { type MessageOptions, writeMessagesStream } from "./write-stream.js";

/**
 * Joins a generation into one response: what a client would make of its stream.
 * @throws SomnusError engine_failed when the engine ended the answer without saying why
 */
export async function writeMessagesResponse(
  events: AsyncIterable<GenerationEvent>,
  options: MessageOptions,
): Promise<MessagesResponse> {
  const content: JoinedBlock[] = [];
  let begun: Extract<MessagesEvent, { type: "message_start" }>["message"] | null = null;
  let ended: Extract<MessagesEvent, { type: "message_delta" }> | null = null;
  for await (const event of writeMessagesStream(events, options)) {
    switch (event.type) {
      case "message_start":
        begun = event.message;
        break;
      case "content_block_start":
        content.push(new JoinedBlock(event.content_block));
        break;
      case "content_block_delta":
        content.at(-1)!.add(event.delta);
        break;
      case "message_delta":
        ended = event;
        break;
    }
  }
  if (begun === null || ended === null) {
    throw new SomnusError("engine_failed", "The engine gave no answer.");
  }
  return {
    ...begun,
    content: content.map((block) => block.whole()),
    ...ended.delta,
    usage: ended.usage,
    hypnos_telemetry: ended.hypnos_telemetry,
  };
}

type Delta = Extract<MessagesEvent, { type: "content_block_delta" }>["delta"];

/** A block and what its deltas add to it. */
class JoinedBlock {
  readonly #pieces: string[] = [];
  #signature = "";

  constructor(private readonly block: AnswerBlock) {}

  add(delta: Delta): void {
    if (delta.type === "text_delta") this.#pieces.push(delta.text);
    else if (delta.type === "thinking_delta") this.#pieces.push(delta.thinking);
    else if (delta.type === "input_json_delta") this.#pieces.push(delta.partial_json);
    else this.#signature = delta.signature;
  }

  whole(): AnswerBlock {
    const text = this.#pieces.join("");
    const { block } = this;
    switch (block.type) {
      case "text":
        return { ...block, text };
      case "thinking":
        return { ...block, thinking: text, signature: this.#signature };
      case "tool_use":
        return { ...block, input: JSON.parse(text) as Record<string, unknown> };
    }
  }
}
