import { nearestEffort } from "../effort.js";
import type { AskedGeneration, Tool, ToolOffer } from "../generation.js";
import { Dropped, type WrittenRequest } from "../vendor/index.js";
import { writeConversation } from "./write-conversation.js";

/** What only newer models of this format know: thoughts without a budget, but with an effort, and a form for answers. */
export type MessagesField = "adaptive_thinking" | "output_format";

/** The vendor that a request is written for. */
export interface MessagesVendor {
  /** The vendor's name for the model. */
  model: string;
  stream: boolean;
  /** What the model takes beyond what all do. */
  knows: ReadonlySet<MessagesField>;
  /** Whether the model can think at all. */
  thinks: boolean;
}

type Fields = Record<string, unknown>;

/** Least tokens of thoughts that the format lets a client allow. */
const LEAST_BUDGET = 1024;
/** Of the answer's tokens, where a client allows as many thoughts as the model wants. */
const SHARE_OF_THOUGHTS = 0.8;

/**
 * Writes a request as a body of the Messages format.
 * @throws SomnusError invalid_request naming a sound: the format has none
 */
export function writeMessagesRequest(
  request: AskedGeneration,
  vendor: MessagesVendor,
): WrittenRequest {
  const dropped = new Dropped();
  const { maxTokens, stop, offer, choices } = request;
  const thinking = writeThinking(request, vendor, dropped);
  const stops = stop.filter((text) => text.trim() !== "");
  if (stops.length < stop.length) dropped.add("stop");
  if (choices > 1) dropped.add("choices");
  dropped.addGiven(request, "topLogprobs", "contextTokens");
  const config = {
    ...writeFormat(request, vendor, dropped),
    ...(thinking.effort === undefined ? {} : { effort: thinking.effort }),
  };
  const body = {
    model: vendor.model,
    ...writeConversation(request.messages),
    max_tokens: maxTokens,
    ...writeSampling(request, thinking.field !== undefined, dropped),
    ...(stops.length > 0 ? { stop_sequences: stops } : {}),
    ...(offer ? writeOffer(offer) : {}),
    ...(thinking.field ? { thinking: thinking.field } : {}),
    ...(Object.keys(config).length > 0 ? { output_config: config } : {}),
    ...(vendor.stream ? { stream: true } : {}),
  };
  return { body, dropped: dropped.all };
}

/** Temperatures end at 1 here, and a model that thinks takes none. */
function writeSampling({ sampling }: AskedGeneration, thinks: boolean, dropped: Dropped): Fields {
  const { temperature, topP, topK, ...others } = sampling;
  dropped.addGiven(
    others,
    "minP",
    "repeatPenalty",
    "presencePenalty",
    "frequencyPenalty",
    "logitBias",
    "seed",
  );
  if (thinks) {
    dropped.addGiven(sampling, "temperature", "topP", "topK");
    return {};
  }
  if (temperature !== undefined && temperature > 1) dropped.add("temperature");
  return {
    ...(temperature === undefined ? {} : { temperature: Math.min(1, temperature) }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
  };
}

interface Thinking {
  field?: Fields;
  effort?: string;
}

/**
 * Thoughts are left out where the format would refuse them: beside a call that must be made, in a turn whose calls
 * were made without them, and where their least budget does not fit into the answer.
 */
function writeThinking(
  request: AskedGeneration,
  { thinks, knows }: MessagesVendor,
  dropped: Dropped,
): Thinking {
  const { think, thinkBudgetTokens: budget, maxTokens } = request;
  if (!think) return {};
  const adaptive = knows.has("adaptive_thinking");
  const refused = mustCall(request.offer) || isInTurn(request.messages);
  if (!thinks || refused || (!adaptive && maxTokens <= LEAST_BUDGET)) {
    dropped.add("think");
    return {};
  }
  if (adaptive) {
    if (budget === undefined) return { field: { type: "adaptive" } };
    const { effort, exact } = nearestEffort(budget);
    if (!exact) dropped.add("thinkBudgetTokens");
    return { field: { type: "adaptive" }, effort };
  }
  const wanted = budget ?? Math.floor(maxTokens * SHARE_OF_THOUGHTS);
  const fitting = Math.min(Math.max(LEAST_BUDGET, wanted), maxTokens - 1);
  if (budget !== undefined && fitting !== budget) dropped.add("thinkBudgetTokens");
  return { field: { type: "enabled", budget_tokens: fitting } };
}

function mustCall(offer: ToolOffer | undefined): boolean {
  return offer !== undefined && offer.choice !== "auto";
}

/** The thoughts before its calls are not kept, and the format wants them back as long as the turn lasts. */
function isInTurn(messages: AskedGeneration["messages"]): boolean {
  const spoke = messages.findLastIndex(({ role }) => role === "user");
  return messages.slice(spoke + 1).some(({ role }) => role === "tool");
}

function writeFormat(
  { json }: AskedGeneration,
  { knows }: MessagesVendor,
  dropped: Dropped,
): Fields {
  if (json === undefined) return {};
  if (json.schema !== undefined && knows.has("output_format")) {
    return { format: { type: "json_schema", schema: json.schema } };
  }
  dropped.add("json");
  return {};
}

function writeOffer({ tools, choice, parallel }: ToolOffer): Fields {
  const single = parallel ? {} : { disable_parallel_tool_use: true };
  const free = choice === "auto" && parallel;
  return {
    tools: tools.map(writeTool),
    ...(free ? {} : { tool_choice: { ...writeChoice(choice), ...single } }),
  };
}

function writeChoice(choice: ToolOffer["choice"]): Fields {
  if (choice === "auto") return { type: "auto" };
  return choice === "required" ? { type: "any" } : { type: "tool", name: choice.name };
}

/** The type of arguments may be left out elsewhere; here it must be told. */
function writeTool({ name, description, parameters }: Tool): Fields {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: parameters.type === "object" ? parameters : { ...parameters, type: "object" },
  };
}
