import type { CountTokensRequest, MessageBlock, MessageParam, ShownBlock } from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import type {
  CapabilityWant,
  GenerationMessage,
  MessagePart,
  NamedPicture,
  ToolCall,
} from "../generation.js";
import { DEEPEST, isDeeperThan } from "../json-schema.js";
import { pictureAt } from "../named-media.js";

/**
 * A line for Anthropic's accounting that Claude Code puts before its system text. It differs in every
 * request, so that nothing after it could be taken from a cache, and it says nothing to a model.
 */
const ACCOUNTING = /^x-anthropic-billing-header:/;

/**
 * The system text and the messages of a body, thoughts left out. What an assistant says in messages that
 * follow each other is one message, and an empty one at the end is none.
 * @param wants receives what the messages ask of a model
 * @throws SomnusError invalid_request that names the block
 */
export function readConversation(
  body: Pick<CountTokensRequest, "system" | "messages">,
  wants: CapabilityWant[],
): GenerationMessage<NamedPicture>[] {
  const reader = new ConversationReader(wants);
  reader.system(body.system ?? []);
  body.messages.forEach((message, index) => {
    reader.message(message, `messages[${index}]`);
  });
  return reader.end();
}

class ConversationReader {
  readonly #messages: GenerationMessage<NamedPicture>[] = [];
  readonly #wants: CapabilityWant[];
  /** Calls without a result yet, and where they stand. */
  readonly #open = new Map<string, { call: ToolCall; path: string }>();

  /** Messages before the one that is being read. */
  #before = 0;

  constructor(wants: CapabilityWant[]) {
    this.#wants = wants;
  }

  system(system: NonNullable<CountTokensRequest["system"]>): void {
    const blocks = typeof system === "string" ? [textPart(system)] : system;
    const parts = blocks.flatMap(({ text }) => (ACCOUNTING.test(text) ? [] : [textPart(text)]));
    if (parts.length > 0) this.#messages.push({ role: "system", parts });
  }

  message({ role, content }: MessageParam, path: string): void {
    this.#before = this.#messages.length;
    if (typeof content === "string") {
      this.#add(role, [textPart(content)]);
      return;
    }
    if (content.length === 0) this.#add(role, []);
    content.forEach((block, index) => {
      this.#block(role, block, `${path}.content[${index}]`);
    });
  }

  end(): GenerationMessage<NamedPicture>[] {
    const [first] = this.#open.values();
    const last = this.#messages.at(-1);
    if (first && last?.role === "assistant") {
      throw invalid(first.path, `The call at ${first.path} has no tool_result after it.`);
    }
    if (
      last?.role === "assistant" &&
      last.parts.every((part) => part.type === "text" && part.text === "")
    ) {
      this.#messages.pop();
    }
    if (this.#messages.every(({ role }) => role === "system")) {
      throw invalid("messages", "There is nothing to answer in messages.");
    }
    return this.#messages;
  }

  #block(role: MessageParam["role"], block: MessageBlock, path: string): void {
    switch (block.type) {
      case "thinking":
      case "redacted_thinking":
        // They are of no use to another turn, and a template would not show them.
        this.#add(role, []);
        return;
      case "tool_use":
        this.#call(role, block, path);
        return;
      case "tool_result":
        this.#result(role, block, path);
        return;
      default:
        this.#add(role, this.#shown(block, path));
    }
  }

  #call(
    role: MessageParam["role"],
    { id, name, input }: Extract<MessageBlock, { type: "tool_use" }>,
    path: string,
  ): void {
    if (role !== "assistant") {
      throw invalid(path, `${path} is a tool_use; only the assistant calls tools.`);
    }
    if (this.#open.has(id)) throw invalid(`${path}.id`, `${path}.id is the id of another call.`);
    if (isDeeperThan(input, DEEPEST)) {
      throw invalid(`${path}.input`, `${path}.input is nested more than ${DEEPEST} levels deep.`);
    }
    const call = { id, name, arguments: JSON.stringify(input) };
    this.#open.set(id, { call, path });
    const message = this.#add(role, []);
    message.calls = [...(message.calls ?? []), call];
  }

  #result(
    role: MessageParam["role"],
    block: Extract<MessageBlock, { type: "tool_result" }>,
    path: string,
  ): void {
    if (role !== "user") {
      throw invalid(path, `${path} is a tool_result; those stand in messages of the user.`);
    }
    const { tool_use_id: callId } = block;
    const made = this.#open.get(callId);
    if (made === undefined) {
      throw invalid(
        `${path}.tool_use_id`,
        `${path}.tool_use_id names no call before it that has no result yet.`,
      );
    }
    this.#open.delete(callId);
    this.#messages.push({
      role: "tool",
      parts: this.#resultParts(block, path),
      result: { callId, name: made.call.name },
    });
  }

  #resultParts(
    { content, is_error }: Extract<MessageBlock, { type: "tool_result" }>,
    path: string,
  ): MessagePart<NamedPicture>[] {
    const parts =
      typeof content === "string"
        ? [textPart(content)]
        : (content ?? []).flatMap((block, i) => this.#shown(block, `${path}.content[${i}]`));
    // Templates have no place for it, and a model is to know.
    return is_error === true ? [textPart("Error:"), ...parts] : parts;
  }

  #shown(block: ShownBlock, path: string): MessagePart<NamedPicture>[] {
    switch (block.type) {
      case "text":
        return [textPart(block.text)];
      case "image":
        this.#wants.push({ capability: "vision", param: path });
        return [pictureOf(block.source, path)];
      case "document":
        return [...texts(block.title, block.context), ...this.#document(block.source, path)];
      case "search_result":
        return [...texts(block.title, block.source), ...texts(...block.content.map((c) => c.text))];
    }
  }

  #document(
    source: Extract<ShownBlock, { type: "document" }>["source"],
    path: string,
  ): MessagePart<NamedPicture>[] {
    if (source.type === "text") return [textPart(source.data)];
    if (source.type === "content") {
      if (typeof source.content === "string") return [textPart(source.content)];
      return source.content.flatMap((block, i) =>
        this.#shown(block, `${path}.source.content[${i}]`),
      );
    }
    throw invalid(
      `${path}.source`,
      `${path}.source is a file; a document can only be read here when it is sent as text.`,
    );
  }

  /** Adds to the last message where the same side speaks on; the API joins such messages too. */
  #add(
    role: MessageParam["role"],
    parts: MessagePart<NamedPicture>[],
  ): GenerationMessage<NamedPicture> {
    const last = this.#messages.at(-1);
    const joins = role !== "system" || this.#messages.length > this.#before;
    if (joins && last?.role === role) {
      last.parts.push(...parts);
      return last;
    }
    const message: GenerationMessage<NamedPicture> = { role, parts };
    this.#messages.push(message);
    return message;
  }
}

function pictureOf(
  source: Extract<ShownBlock, { type: "image" }>["source"],
  path: string,
): NamedPicture {
  switch (source.type) {
    case "base64":
      return { type: "picture", source: { base64: source.data }, param: path };
    case "url":
      return pictureAt(source.url, path);
    case "file":
      throw invalid(path, `${path} is a file; files are not kept here, so send the image.`);
  }
}

function textPart(text: string): MessagePart<never> {
  return { type: "text", text };
}

function texts(...all: (string | null | undefined)[]): MessagePart<never>[] {
  return all.flatMap((text) => (text ? [textPart(text)] : []));
}

function invalid(param: string, message: string): SomnusError {
  return new SomnusError("invalid_request", message, { param });
}
