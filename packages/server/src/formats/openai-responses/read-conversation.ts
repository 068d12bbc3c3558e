import type { ResponsesKeptItem, ResponsesPart } from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import type {
  CapabilityWant,
  GenerationMessage,
  MessagePart,
  NamedMedia,
  ToolCall,
} from "../generation.js";
import { DEEPEST, isDeeperThan } from "../json-schema.js";
import { pictureAt, soundIn } from "../named-media.js";
import type { PlacedItem } from "./read-items.js";
import { nameForModel } from "./tool-names.js";

/**
 * The messages of a conversation: the instructions, then each item in its order. Calls belong to the
 * message of the assistant that they follow. What the model must be able to do is added to `wants`.
 * @throws SomnusError invalid_request that names the field
 */
export function readConversation(
  instructions: string | null,
  items: readonly PlacedItem[],
  wants: CapabilityWant[],
): GenerationMessage<NamedMedia>[] {
  const reader = new ConversationReader(wants);
  if (instructions !== null) reader.say("system", [{ type: "text", text: instructions }]);
  for (const { item, path } of items) reader.add(item, path);
  return reader.messages;
}

class ConversationReader {
  readonly messages: GenerationMessage<NamedMedia>[] = [];
  /** The functions that were called, by the id of the call. */
  readonly #called = new Map<string, string>();

  constructor(private readonly wants: CapabilityWant[]) {}

  add(item: ResponsesKeptItem, path: string): void {
    switch (item.type) {
      case "message": {
        const role = item.role === "developer" ? "system" : item.role;
        const parts = item.content.flatMap((part, i) => this.#part(part, `${path}.content[${i}]`));
        this.say(role, parts);
        return;
      }
      case "function_call":
        this.#call(item, path);
        return;
      case "function_call_output":
        this.#result(item, path);
        return;
    }
  }

  say(role: "system" | "user" | "assistant", parts: MessagePart<NamedMedia>[]): void {
    this.messages.push({ role, parts });
  }

  #call(item: Extract<ResponsesKeptItem, { type: "function_call" }>, path: string): void {
    const name = nameForModel(item);
    const call: ToolCall = { id: item.call_id, name, arguments: item.arguments };
    requireArguments(call.arguments, `${path}.arguments`);
    this.#called.set(call.id, call.name);
    const last = this.messages.at(-1);
    if (last?.role === "assistant") last.calls = [...(last.calls ?? []), call];
    else this.messages.push({ role: "assistant", parts: [], calls: [call] });
  }

  #result(item: Extract<ResponsesKeptItem, { type: "function_call_output" }>, path: string): void {
    const name = this.#called.get(item.call_id);
    if (name === undefined) {
      throw invalid(
        `${path}.call_id`,
        `${path}.call_id names no function_call before it in the conversation.`,
      );
    }
    const parts: MessagePart<NamedMedia>[] =
      typeof item.output === "string"
        ? [{ type: "text", text: item.output }]
        : item.output.flatMap((part, i) => this.#part(part, `${path}.output[${i}]`));
    this.messages.push({ role: "tool", parts, result: { callId: item.call_id, name } });
  }

  #part(part: ResponsesPart, path: string): MessagePart<NamedMedia>[] {
    switch (part.type) {
      case "input_text":
      case "output_text":
        return [{ type: "text", text: part.text }];
      case "refusal":
        return [{ type: "text", text: part.refusal }];
      case "input_image":
        this.wants.push({ capability: "vision", param: path });
        if (part.image_url == null) {
          throw invalid(
            path,
            `${path} has no image_url; files are not kept here, so send the image.`,
          );
        }
        return [pictureAt(part.image_url, path)];
      case "input_audio":
        this.wants.push({ capability: "audio", param: path });
        return [soundIn(part.input_audio, path)];
      case "input_file":
        throw invalid(path, `${path} is a file; files are not read here, send their text.`);
    }
  }
}

/** Templates write the arguments anew and need an object for it. */
function requireArguments(text: string, path: string): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(path, `${path} must be a JSON object, as text.`);
  }
  if (isDeeperThan(value, DEEPEST)) {
    throw invalid(path, `${path} is nested more than ${DEEPEST} levels deep.`);
  }
}

function invalid(param: string, message: string): SomnusError {
  return new SomnusError("invalid_request", message, { param });
}
