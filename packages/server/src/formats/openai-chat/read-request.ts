import type { ChatRequest } from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import type { AskedGeneration, CapabilityWant, GenerationRequest } from "../generation.js";
import { holdingRefusal } from "../json-schema.js";
import { parseKeepAlive } from "../keep-alive.js";
import { requireOfferWithin } from "../offer-length.js";
import { requirePromptWithin } from "../prompt-length.js";
import { readSampling, readStops } from "../sampling-fields.js";
import { readMessages } from "./read-messages.js";
import { readOffer } from "./read-offer.js";
import { readThinking } from "./read-thinking.js";

/** The limits that a chat body is held to. */
export interface ChatLimits {
  max_prompt_chars: number;
  max_tokens_cap: number;
  default_max_tokens: number;
}

/** A chat request in the internal form, with what only the OpenAI format knows beside it. */
export interface ChatCall {
  /** As the client wrote it; absent: the server's default. */
  model: string | undefined;
  generation: AskedGeneration;
  stream: boolean;
  includeUsage: boolean;
  showThoughts: boolean;
  /** How long the model stays loaded afterwards; null: as configured. Infinity: for good. */
  keepAliveMs: number | null;
  /** What the model must be able to do, and the field that asks for it. */
  wants: CapabilityWant[];
}

/**
 * Reads a validated chat body.
 * @throws SomnusError invalid_request that names the field
 */
export function readChatRequest(body: ChatRequest, limits: ChatLimits): ChatCall {
  const json = readJsonFormat(body);
  refuseUnsupported(body);
  const wants: ChatCall["wants"] = [];
  const offered = readOffer(body);
  if (offered) wants.push({ capability: "tools", param: offered.field });
  const thinking = readThinking(body);
  if (thinking.insists !== null) {
    const capability = thinking.think ? "thinking" : "not thinking";
    wants.push({ capability, param: thinking.insists });
  }
  const messages = readMessages(body.messages, wants);
  requirePromptWithin(messages, limits.max_prompt_chars);
  requireOfferWithin(offered?.offer, limits.max_prompt_chars, offered?.field);
  const topLogprobs = readLogprobs(body);
  const wanted =
    body.max_completion_tokens ??
    body.max_tokens ??
    body.max_output_tokens ??
    limits.default_max_tokens;
  return {
    model: body.model ?? undefined,
    generation: {
      messages,
      maxTokens: Math.min(wanted, limits.max_tokens_cap),
      sampling: readSampling(body),
      stop: readStops(body.stop),
      choices: body.n ?? 1,
      think: thinking.think,
      ...(thinking.budgetTokens === undefined ? {} : { thinkBudgetTokens: thinking.budgetTokens }),
      ...(offered ? { offer: offered.offer } : {}),
      ...(topLogprobs === undefined ? {} : { topLogprobs }),
      ...(json === undefined ? {} : { json }),
      ...(body.num_ctx == null ? {} : { contextTokens: body.num_ctx }),
    },
    stream: body.stream === true,
    includeUsage: body.stream_options?.include_usage === true,
    showThoughts: thinking.show,
    keepAliveMs: body.keep_alive == null ? null : parseKeepAlive(body.keep_alive),
    wants,
  };
}

/** Fields that would change what the answer means and that no local model can honour. */
function refuseUnsupported(body: ChatRequest): void {
  if (body.modalities?.some((modality) => modality !== "text")) {
    throw invalid(
      "modalities",
      'Only text can be answered; leave modalities out or send ["text"].',
    );
  }
  if (body.web_search_options != null) {
    throw invalid("web_search_options", "Web search is not available here; leave it out.");
  }
}

function readLogprobs(body: ChatRequest): number | undefined {
  if (body.logprobs === true) return body.top_logprobs ?? 0;
  if (body.top_logprobs != null && body.top_logprobs > 0) {
    throw invalid("top_logprobs", "top_logprobs needs logprobs: true.");
  }
  return undefined;
}

function readJsonFormat(body: ChatRequest): GenerationRequest["json"] {
  const format = body.response_format;
  if (format == null || format.type === "text") return undefined;
  if (format.type === "json_object") return {};
  const path = "response_format.json_schema.schema";
  const { schema } = format.json_schema;
  if (schema == null) throw invalid(path, `${path} is missing.`);
  const refusal = holdingRefusal(schema);
  if (refusal !== null) throw invalid(path, `${path} ${refusal}.`);
  return { schema };
}

function invalid(param: string, message: string): SomnusError {
  return new SomnusError("invalid_request", message, { param });
}
