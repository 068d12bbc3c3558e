import type { ChatMessage, ContentPart } from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import type {
  CapabilityWant,
  GenerationMessage,
  MessagePart,
  NamedMedia,
  ToolCall,
} from "../generation.js";
import { isObject } from "../is-object.js";
import { DEEPEST, isDeeperThan } from "../json-schema.js";
import { pictureAt, soundIn } from "../named-media.js";

/**
 * The messages of a chat body in the internal form. Thoughts of earlier turns are left out: they are of no use to
 * another one.
 * @param wants receives what they ask of a model
 * @throws SomnusError invalid_request that names the field
 */
export function readMessages(
  messages: readonly ChatMessage[],
  wants: CapabilityWant[],
): GenerationMessage<NamedMedia>[] {
  const reader = new MessageReader(wants);
  const read = messages.map((message, index) => reader.read(message, `messages[${index}]`));
  const last = messages.length - 1;
  if (read[last]?.calls) {
    throw invalid(
      `messages[${last}].tool_calls`,
      `messages[${last}].tool_calls has no results after it.`,
    );
  }
  return read;
}

class MessageReader {
  /** Calls so far, by their ids. */
  readonly #calls = new Map<string, ToolCall>();
  #older = 0;

  constructor(private readonly wants: CapabilityWant[]) {}

  read(message: ChatMessage, path: string): GenerationMessage<NamedMedia> {
    const calls = this.#readCalls(message, path);
    const parts = this.#readContent(message, path);
    switch (message.role) {
      case "developer":
        return { role: "system", parts };
      case "tool":
        return { role: "tool", parts, result: this.#resultOf(message, path) };
      case "function":
        return { role: "tool", parts, result: this.#olderResultOf(message, path) };
      default:
        return { role: message.role, parts, ...(calls.length > 0 ? { calls } : {}) };
    }
  }

  #readContent({ role, content }: ChatMessage, path: string): MessagePart<NamedMedia>[] {
    if (content == null) {
      if (role === "assistant") return [];
      throw invalid(`${path}.content`, `${path}.content must be a text or a list of parts.`);
    }
    if (typeof content === "string") return [{ type: "text", text: content }];
    return content.flatMap((part, index) => this.#readPart(part, `${path}.content[${index}]`));
  }

  #readPart(part: ContentPart, path: string): MessagePart<NamedMedia>[] {
    switch (part.type) {
      case "text":
        return [{ type: "text", text: part.text }];
      case "refusal":
        return [{ type: "text", text: part.refusal }];
      case "image_url":
        this.wants.push({ capability: "vision", param: path });
        return [pictureAt(part.image_url.url, path)];
      case "input_audio":
        this.wants.push({ capability: "audio", param: path });
        return [soundIn(part.input_audio, path)];
    }
  }

  #readCalls(message: ChatMessage, path: string): ToolCall[] {
    const { role, tool_calls: made, function_call: older } = message;
    const field = made?.length ? "tool_calls" : older ? "function_call" : null;
    if (field === null) return [];
    if (role !== "assistant") {
      throw invalid(`${path}.${field}`, `${path}.${field}: only an assistant calls functions.`);
    }
    if (!made?.length) {
      const at = `${path}.function_call`;
      return [this.#readCall(`older_${this.#older++}`, older!, at)];
    }
    const own = new Set<string>();
    return made.map(({ id, function: called }, index) => {
      const at = `${path}.tool_calls[${index}]`;
      if (own.has(id)) throw invalid(`${at}.id`, `${at}.id is the id of the call before it.`);
      own.add(id);
      return this.#readCall(id, called, `${at}.function`);
    });
  }

  #readCall(id: string, called: { name: string; arguments: string }, path: string): ToolCall {
    const text = called.arguments.trim() === "" ? "{}" : called.arguments;
    if (!isObjectText(text)) {
      throw invalid(`${path}.arguments`, `${path}.arguments must be a JSON object as text.`);
    }
    const call = { id, name: called.name, arguments: text };
    this.#calls.set(id, call);
    return call;
  }

  #resultOf({ tool_call_id: id }: ChatMessage, path: string): GenerationMessage["result"] & object {
    const at = `${path}.tool_call_id`;
    if (id == null) throw invalid(at, `${at} is missing; it says which call this answers.`);
    const call = this.#calls.get(id);
    if (!call) throw invalid(at, `${at} names no call of an earlier message.`);
    return { callId: id, name: call.name };
  }

  /** Of the older form, in which a result names its function. */
  #olderResultOf({ name }: ChatMessage, path: string): GenerationMessage["result"] & object {
    const made = [...this.#calls.values()].reverse().find((call) => call.name === name);
    if (!made) throw invalid(`${path}.name`, `${path}.name names no function called before it.`);
    return { callId: made.id, name: made.name };
  }
}

/** Whether a text is one JSON object, and no deeper than an engine can read. */
function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && !isDeeperThan(value, DEEPEST);
  } catch {
    return false;
  }
}

function invalid(param: string, message: string): SomnusError {
  return new SomnusError("invalid_request", message, { param });
}
