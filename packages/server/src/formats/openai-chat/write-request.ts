import { nearestEffort } from "../effort.js";
import type {
  AskedGeneration,
  GenerationMessage,
  NamedMedia,
  Sampling,
  Tool,
  ToolOffer,
} from "../generation.js";
import {
  Dropped,
  isStrictSchema,
  pictureUrl,
  type WrittenRequest,
  writeSound,
} from "../vendor/index.js";
import { writeToolCall } from "./answer.js";

/**
 * Fields that only some who speak this format know; others refuse a request that has them.
 * `max_completion_tokens` stands in the place of `max_tokens` then.
 */
export type ChatField =
  | "max_completion_tokens"
  | "top_k"
  | "min_p"
  | "repeat_penalty"
  | "num_ctx"
  | "think"
  | "reasoning_effort";

/** The vendor that a request is written for. */
export interface ChatVendor {
  /** The vendor's name for the model. */
  model: string;
  stream: boolean;
  /** Fields that it knows beyond those that all do. */
  knows: ReadonlySet<ChatField>;
}

type Message = GenerationMessage<NamedMedia>;
type Fields = Record<string, unknown>;

/**
 * Writes a request as a Chat Completions body. Results of functions hold text only in this format: their pictures and
 * sounds follow them in a message of the user.
 */
export function writeChatRequest(request: AskedGeneration, vendor: ChatVendor): WrittenRequest {
  const { model, stream, knows } = vendor;
  const { maxTokens, stop, choices, topLogprobs, offer } = request;
  const dropped = new Dropped();
  const limit = knows.has("max_completion_tokens") ? "max_completion_tokens" : "max_tokens";
  const body = {
    model,
    messages: writeMessages(request.messages),
    [limit]: maxTokens,
    ...writeSampling(request.sampling, knows, dropped),
    ...(stop.length > 0 ? { stop } : {}),
    ...(choices > 1 ? { n: choices } : {}),
    ...(topLogprobs === undefined ? {} : { logprobs: true, top_logprobs: topLogprobs }),
    ...(request.json ? { response_format: writeFormat(request.json, dropped) } : {}),
    ...(offer ? writeOffer(offer) : {}),
    ...writeThinking(request, knows, dropped),
    ...given(request.contextTokens, "num_ctx", knows, () => dropped.add("contextTokens")),
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
  };
  return { body, dropped: dropped.all };
}

/** The field where the vendor knows it; `miss` is called where it does not. */
function given(
  value: unknown,
  field: ChatField,
  knows: ReadonlySet<ChatField>,
  miss: () => void,
): Fields {
  if (value === undefined) return {};
  if (knows.has(field)) return { [field]: value };
  miss();
  return {};
}

const SAMPLING = [
  ["temperature", "temperature"],
  ["topP", "top_p"],
  ["presencePenalty", "presence_penalty"],
  ["frequencyPenalty", "frequency_penalty"],
  ["logitBias", "logit_bias"],
  ["seed", "seed"],
] as const;

const FURTHER_SAMPLING = [
  ["topK", "top_k"],
  ["minP", "min_p"],
  ["repeatPenalty", "repeat_penalty"],
] as const;

function writeSampling(
  sampling: Sampling,
  knows: ReadonlySet<ChatField>,
  dropped: Dropped,
): Fields {
  const fields: Fields = {};
  for (const [name, field] of SAMPLING) {
    if (sampling[name] !== undefined) fields[field] = sampling[name];
  }
  for (const [name, field] of FURTHER_SAMPLING) {
    Object.assign(
      fields,
      given(sampling[name], field, knows, () => dropped.add(name)),
    );
  }
  return fields;
}

function writeThinking(
  { think, thinkBudgetTokens: budget }: AskedGeneration,
  knows: ReadonlySet<ChatField>,
  dropped: Dropped,
): Fields {
  if (!think) return {};
  if (budget === undefined && knows.has("think")) return { think: true };
  if (knows.has("reasoning_effort")) {
    const { effort, exact } = nearestEffort(budget);
    if (budget !== undefined && !exact) dropped.add("thinkBudgetTokens");
    return { reasoning_effort: effort };
  }
  if (budget !== undefined) dropped.add("thinkBudgetTokens");
  if (knows.has("think")) return { think: true };
  dropped.add("think");
  return {};
}

/** A schema that cannot be a strict one is still told to the model, which is then free to miss it. */
function writeFormat({ schema }: NonNullable<AskedGeneration["json"]>, dropped: Dropped): Fields {
  if (schema === undefined) return { type: "json_object" };
  const strict = isStrictSchema(schema);
  if (!strict) dropped.add("json");
  return {
    type: "json_schema",
    json_schema: { name: "answer", schema, ...(strict ? { strict } : {}) },
  };
}

function writeOffer({ tools, choice, parallel }: ToolOffer): Fields {
  return {
    tools: tools.map(writeTool),
    ...(choice === "auto" ? {} : { tool_choice: writeChoice(choice) }),
    ...(parallel ? {} : { parallel_tool_calls: false }),
  };
}

function writeTool({ name, description, parameters }: Tool): Fields {
  const told = description === undefined ? {} : { description };
  return { type: "function", function: { name, ...told, parameters } };
}

function writeChoice(choice: Exclude<ToolOffer["choice"], "auto">): unknown {
  return choice === "required" ? choice : { type: "function", function: choice };
}

function writeMessages(messages: readonly Message[]): Fields[] {
  const written: Fields[] = [];
  let shown: NamedMedia[] = [];
  for (const [index, message] of messages.entries()) {
    written.push(writeMessage(message));
    if (message.role !== "tool") continue;
    shown.push(...message.parts.filter((part) => part.type !== "text"));
    // Results of one turn stand together.
    if (messages[index + 1]?.role === "tool" || shown.length === 0) continue;
    written.push({ role: "user", content: shown.map(writePart) });
    shown = [];
  }
  return written;
}

function writeMessage({ role, parts, calls, result }: Message): Fields {
  if (role === "tool") {
    const texts = parts.filter((part) => part.type === "text");
    return { role, tool_call_id: result?.callId, content: writeContent(texts) };
  }
  if (!calls?.length) return { role, content: writeContent(parts) };
  const content = parts.length === 0 ? null : writeContent(parts);
  return { role, content, tool_calls: calls.map(writeToolCall) };
}

function writeContent(parts: Message["parts"]): unknown {
  const [only, ...more] = parts;
  if (only === undefined) return "";
  if (more.length === 0 && only.type === "text") return only.text;
  return parts.map(writePart);
}

function writePart(part: Message["parts"][number]): Fields {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "picture":
      return { type: "image_url", image_url: { url: pictureUrl(part) } };
    case "sound":
      return { type: "input_audio", input_audio: writeSound(part) };
  }
}
