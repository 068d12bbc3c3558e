import { SomnusError } from "../../http/errors.js";
import type { GenerationMessage, NamedMedia, NamedPicture, ToolCall } from "../generation.js";
import { sentPicture } from "../vendor/index.js";
import { CallIds } from "./call-ids.js";

type Message = GenerationMessage<NamedMedia>;
type Block = Record<string, unknown>;

/** A message of the format while blocks are added to it. */
interface WrittenMessage {
  role: "user" | "assistant" | "system";
  content: Block[];
}

/**
 * The system text and the messages of a body. System texts at the head stand in `system`; messages of one side
 * that follow each other are one, results of functions first in it, as the format wants it. Texts without a
 * visible character are joined to one beside them, or left out: the format takes none.
 * @throws SomnusError invalid_request naming a sound: the format has none
 */
export function writeConversation(messages: readonly Message[]): {
  system?: Block[];
  messages: WrittenMessage[];
} {
  const start = messages.findIndex(({ role }) => role !== "system");
  const head = start < 0 ? messages : messages.slice(0, start);
  const system = writeParts(head.flatMap(({ parts }) => parts));
  const ids = new CallIds();
  const written: WrittenMessage[] = [];
  for (const message of start < 0 ? [] : messages.slice(start)) add(written, message, ids);
  return { ...(system.length > 0 ? { system } : {}), messages: written };
}

function add(written: WrittenMessage[], message: Message, ids: CallIds): void {
  const role = message.role === "tool" ? "user" : message.role;
  const blocks = writeBlocks(message, ids);
  if (blocks.length === 0) return;
  const last = written.at(-1);
  if (last?.role !== role || role === "system") {
    written.push({ role, content: blocks });
    return;
  }
  const results = last.content.findLastIndex(({ type }) => type === "tool_result") + 1;
  if (message.role === "tool") last.content.splice(results, 0, ...blocks);
  else last.content.push(...blocks);
}

function writeBlocks(message: Message, ids: CallIds): Block[] {
  const blocks = writeParts(message.parts);
  if (message.role === "tool") {
    return [
      {
        type: "tool_result",
        tool_use_id: ids.of(message.result?.callId ?? ""),
        ...(blocks.length > 0 ? { content: blocks } : {}),
      },
    ];
  }
  return [...blocks, ...(message.calls ?? []).map((call) => writeCall(call, ids))];
}

function writeCall({ id, name, arguments: text }: ToolCall, ids: CallIds): Block {
  return { type: "tool_use", id: ids.of(id), name, input: JSON.parse(text) as unknown };
}

function writeParts(parts: Message["parts"]): Block[] {
  const blocks: Block[] = [];
  let blank = "";
  for (const part of parts) {
    if (part.type === "picture") {
      blocks.push({ type: "image", source: writeSource(part) });
      continue;
    }
    if (part.type === "sound") {
      throw new SomnusError(
        "invalid_request",
        `${part.param} is a sound, which this model's vendor cannot be sent.`,
        { param: part.param },
      );
    }
    if (part.text.trim() !== "") {
      blocks.push({ type: "text", text: blank + part.text });
      blank = "";
      continue;
    }
    const last = blocks.at(-1);
    if (last?.type === "text") last.text += part.text;
    else blank += part.text;
  }
  return blocks;
}

function writeSource(picture: NamedPicture): Block {
  const sent = sentPicture(picture);
  return "url" in sent
    ? { type: "url", url: sent.url }
    : { type: "base64", media_type: sent.mediaType, data: sent.base64 };
}
