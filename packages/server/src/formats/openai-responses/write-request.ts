import { nearestEffort } from "../effort.js";
import type {
  AskedGeneration,
  GenerationMessage,
  NamedMedia,
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

/** Fields that not every model or account of this format takes. */
export type ResponsesField = "reasoning" | "reasoning_summary" | "sampling" | "logprobs";

/** The vendor that a request is written for. */
export interface ResponsesVendor {
  /** The vendor's name for the model. */
  model: string;
  stream: boolean;
  /** What it takes beyond what all do. */
  knows: ReadonlySet<ResponsesField>;
}

type Message = GenerationMessage<NamedMedia>;
type Fields = Record<string, unknown>;

/** Writes a request as a body of the Responses format; nothing of it is kept by the vendor. */
export function writeResponsesRequest(
  request: AskedGeneration,
  vendor: ResponsesVendor,
): WrittenRequest {
  const dropped = new Dropped();
  const { offer, choices, stop } = request;
  if (choices > 1) dropped.add("choices");
  if (stop.length > 0) dropped.add("stop");
  dropped.addGiven(request, "contextTokens");
  const body = {
    model: vendor.model,
    ...writeConversation(request.messages),
    max_output_tokens: request.maxTokens,
    ...writeSampling(request, vendor, dropped),
    ...writeLogprobs(request, vendor, dropped),
    ...(request.json ? { text: { format: writeFormat(request.json, dropped) } } : {}),
    ...(offer ? writeOffer(offer) : {}),
    ...writeReasoning(request, vendor, dropped),
    store: false,
    ...(vendor.stream ? { stream: true } : {}),
  };
  return { body, dropped: dropped.all };
}

function writeSampling(
  { sampling }: AskedGeneration,
  { knows }: ResponsesVendor,
  dropped: Dropped,
): Fields {
  const { temperature, topP, ...others } = sampling;
  dropped.addGiven(
    others,
    "topK",
    "minP",
    "repeatPenalty",
    "presencePenalty",
    "frequencyPenalty",
    "logitBias",
    "seed",
  );
  if (!knows.has("sampling")) {
    dropped.addGiven(sampling, "temperature", "topP");
    return {};
  }
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
  };
}

function writeLogprobs(
  { topLogprobs }: AskedGeneration,
  { knows }: ResponsesVendor,
  dropped: Dropped,
): Fields {
  if (topLogprobs === undefined) return {};
  if (knows.has("logprobs")) {
    return { include: ["message.output_text.logprobs"], top_logprobs: topLogprobs };
  }
  dropped.add("topLogprobs");
  return {};
}

/** As many thoughts as the model wants are asked for by their summary, the only place where they are shown. */
function writeReasoning(
  { think, thinkBudgetTokens: budget }: AskedGeneration,
  { knows }: ResponsesVendor,
  dropped: Dropped,
): Fields {
  if (!think) return {};
  if (!knows.has("reasoning")) {
    dropped.add("think");
    return {};
  }
  const summary = knows.has("reasoning_summary") ? { summary: "auto" } : {};
  if (budget === undefined && "summary" in summary) return { reasoning: summary };
  const { effort, exact } = nearestEffort(budget);
  if (budget !== undefined && !exact) dropped.add("thinkBudgetTokens");
  return { reasoning: { effort, ...summary } };
}

/** A schema that cannot be a strict one is still told to the model, which is then free to miss it. */
function writeFormat({ schema }: NonNullable<AskedGeneration["json"]>, dropped: Dropped): Fields {
  if (schema === undefined) return { type: "json_object" };
  const strict = isStrictSchema(schema);
  if (!strict) dropped.add("json");
  return { type: "json_schema", name: "answer", schema, strict };
}

function writeOffer({ tools, choice, parallel }: ToolOffer): Fields {
  return {
    tools: tools.map(writeTool),
    ...(choice === "auto" ? {} : { tool_choice: writeChoice(choice) }),
    ...(parallel ? {} : { parallel_tool_calls: false }),
  };
}

function writeChoice(choice: Exclude<ToolOffer["choice"], "auto">): unknown {
  return choice === "required" ? choice : { type: "function", ...choice };
}

/** Without a word about it a schema would be changed into a strict one. */
function writeTool({ name, description, parameters }: Tool): Fields {
  const told = description === undefined ? {} : { description };
  return { type: "function", name, ...told, parameters, strict: false };
}

/** A system text at the head is the instructions; the rest are items. */
function writeConversation(messages: readonly Message[]): Fields {
  const [first, ...rest] = messages;
  const [part, ...more] = first?.role === "system" ? first.parts : [];
  const alone = part?.type === "text" && more.length === 0 && rest.length > 0;
  const items = (alone ? rest : messages).flatMap(writeItems);
  return { ...(alone ? { instructions: part.text } : {}), input: items };
}

function writeItems({ role, parts, calls, result }: Message): Fields[] {
  if (role === "tool") {
    const output = writeContent(parts, "input_text");
    return [{ type: "function_call_output", call_id: result?.callId, output }];
  }
  const made = (calls ?? []).map((call) => ({
    type: "function_call",
    call_id: call.id,
    name: call.name,
    arguments: call.arguments,
  }));
  if (parts.length === 0 && made.length > 0) return made;
  const kind = role === "assistant" ? "output_text" : "input_text";
  return [{ type: "message", role, content: writeContent(parts, kind) }, ...made];
}

function writeContent(parts: Message["parts"], kind: "input_text" | "output_text"): unknown {
  const [only, ...more] = parts;
  if (only === undefined) return "";
  if (more.length === 0 && only.type === "text") return only.text;
  return parts.map((part) => writePart(part, kind));
}

function writePart(part: Message["parts"][number], kind: "input_text" | "output_text"): Fields {
  switch (part.type) {
    case "text":
      return { type: kind, text: part.text };
    case "picture":
      return { type: "input_image", image_url: pictureUrl(part) };
    case "sound":
      return { type: "input_audio", input_audio: writeSound(part) };
  }
}
