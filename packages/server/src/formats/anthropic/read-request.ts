import type {
  CountTokensRequest,
  MessagesRequest,
  MessageTool,
  MessageToolChoice,
} from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import { EFFORT_BUDGETS } from "../effort.js";
import type {
  AskedGeneration,
  CapabilityWant,
  GenerationRequest,
  Tool,
  ToolOffer,
} from "../generation.js";
import { holdingRefusal, schemaRefusal } from "../json-schema.js";
import { requireOfferWithin } from "../offer-length.js";
import { requirePromptWithin } from "../prompt-length.js";
import { readConversation } from "./read-conversation.js";
import { THREAD } from "./write-error.js";

/** The limits that a body of the Messages API is held to. */
export interface MessagesLimits {
  max_prompt_chars: number;
  max_tokens_cap: number;
}

/** What decides a prompt, in the internal form. */
export interface PromptCall {
  /** As the client wrote it; absent: the server's default. */
  model: string | undefined;
  generation: AskedGeneration;
  /** What the model must be able to do, and the field that asks for it. */
  wants: CapabilityWant[];
}

/** A request of the Messages API in the internal form, with what only this format knows beside it. */
export interface MessagesCall extends PromptCall {
  stream: boolean;
  showThoughts: boolean;
}

/**
 * Reads a validated body of `POST /v1/messages`.
 * @throws SomnusError invalid_request that names the field
 */
export function readMessagesRequest(body: MessagesRequest, limits: MessagesLimits): MessagesCall {
  if (body.thread != null) {
    throw invalid(THREAD, "Threads are not kept here; send the whole conversation instead.");
  }
  const prompt = readCountRequest(body, limits);
  const { thinking } = body;
  const budget = readBudget(body);
  const hidden = thinking && thinking.type !== "disabled" && thinking.display === "omitted";
  return {
    ...prompt,
    generation: {
      ...prompt.generation,
      maxTokens: Math.min(body.max_tokens, limits.max_tokens_cap),
      sampling: {
        ...(body.temperature == null ? {} : { temperature: body.temperature }),
        ...(body.top_p == null ? {} : { topP: body.top_p }),
        ...(body.top_k == null ? {} : { topK: body.top_k }),
      },
      stop: body.stop_sequences ?? [],
      ...(budget === undefined ? {} : { thinkBudgetTokens: budget }),
    },
    stream: body.stream === true,
    showThoughts: prompt.generation.think && !hidden,
  };
}

/**
 * Reads a validated body of `POST /v1/messages/count_tokens`: the prompt alone.
 * @throws SomnusError invalid_request that names the field
 */
export function readCountRequest(
  body: CountTokensRequest,
  limits: Pick<MessagesLimits, "max_prompt_chars">,
): PromptCall {
  const json = readOutputFormat(body);
  const wants: CapabilityWant[] = [];
  const offer = readOffer(body.tools ?? [], body.tool_choice ?? null);
  if (offer) wants.push({ capability: "tools", param: "tools" });
  const messages = readConversation(body, wants);
  requirePromptWithin(messages, limits.max_prompt_chars);
  requireOfferWithin(offer, limits.max_prompt_chars);
  return {
    model: body.model ?? undefined,
    generation: {
      messages,
      maxTokens: 1,
      sampling: {},
      stop: [],
      choices: 1,
      think: body.thinking != null && body.thinking.type !== "disabled",
      ...(json === undefined ? {} : { json }),
      ...(offer === undefined ? {} : { offer }),
    },
    wants,
  };
}

/** Most tokens of thoughts: a number, or the level of an effort; undefined: as many as the model wants. */
function readBudget({ thinking, output_config }: MessagesRequest): number | undefined {
  if (thinking?.type === "enabled") return thinking.budget_tokens;
  const effort = output_config?.effort;
  if (thinking?.type !== "adaptive" || !effort || effort === "xhigh" || effort === "max") {
    return undefined;
  }
  return EFFORT_BUDGETS[effort];
}

function readOffer(
  tools: readonly MessageTool[],
  choice: MessageToolChoice | null,
): ToolOffer | undefined {
  const read = tools.map(readTool);
  const names = new Set<string>();
  for (const [i, { name }] of read.entries()) {
    if (names.has(name)) throw invalid(`tools[${i}].name`, `Two tools have the name "${name}".`);
    names.add(name);
  }
  if (choice === null) {
    return read.length === 0 ? undefined : { tools: read, choice: "auto", parallel: true };
  }
  if (choice.type === "none") return undefined;
  if (read.length === 0) throw invalid("tool_choice", "tool_choice needs tools.");
  if (choice.type === "tool" && !names.has(choice.name)) {
    throw invalid("tool_choice.name", `There is no tool "${choice.name}" in tools.`);
  }
  return {
    tools: read,
    choice: choice.type === "tool" ? { name: choice.name } : CHOICES[choice.type],
    parallel: choice.disable_parallel_tool_use !== true,
  };
}

const CHOICES = { auto: "auto", any: "required" } as const;

function readTool(tool: MessageTool, index: number): Tool {
  const path = `tools[${index}]`;
  if (tool.type != null && tool.type !== "custom") {
    throw invalid(
      `${path}.type`,
      `${path}.type must be "custom" or absent: tools that Anthropic defines or runs are not available here.`,
    );
  }
  if (tool.input_schema == null) {
    throw invalid(`${path}.input_schema`, `${path}.input_schema is missing; it must be an object.`);
  }
  const refusal = schemaRefusal(tool.input_schema);
  if (refusal !== null) throw invalid(`${path}.input_schema`, `${path}.input_schema ${refusal}.`);
  if (tool.input_schema.type !== "object") {
    throw invalid(`${path}.input_schema.type`, `${path}.input_schema.type must be "object".`);
  }
  return {
    name: tool.name,
    ...(tool.description == null ? {} : { description: tool.description }),
    parameters: tool.input_schema,
  };
}

/** `output_config.format`, or its older name. */
function readOutputFormat(body: CountTokensRequest): GenerationRequest["json"] {
  const path = body.output_config?.format ? "output_config.format.schema" : "output_format.schema";
  const format = body.output_config?.format ?? body.output_format;
  if (format == null) return undefined;
  const refusal = holdingRefusal(format.schema);
  if (refusal !== null) throw invalid(path, `${path} ${refusal}.`);
  return { schema: format.schema };
}

function invalid(param: string, message: string): SomnusError {
  return new SomnusError("invalid_request", message, { param });
}
