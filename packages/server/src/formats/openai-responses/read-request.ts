import type {
  ResponsesAnswer,
  ResponsesKeptItem,
  ResponsesRequest,
  ResponsesTextFormat,
} from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import { EFFORT_BUDGETS } from "../effort.js";
import type { AskedGeneration, CapabilityWant, GenerationRequest } from "../generation.js";
import { holdingRefusal } from "../json-schema.js";
import { requireOfferWithin } from "../offer-length.js";
import { requirePromptWithin } from "../prompt-length.js";
import { knownChoice, knownFormat } from "./known-fields.js";
import { readConversation } from "./read-conversation.js";
import { type Found, keptItems, readItems } from "./read-items.js";
import { readTools } from "./read-tools.js";

/** The limits that a body of the Responses API is held to. */
export interface ResponsesLimits {
  max_prompt_chars: number;
  max_tokens_cap: number;
  default_max_tokens: number;
}

/** How thoughts are shown: as a summary's text where a summary was asked for, else as they are. */
export type ThoughtsShown = "none" | "text" | "summary";

/** What an answer repeats of its request. */
export type Echo = Pick<
  ResponsesAnswer,
  | "instructions"
  | "previous_response_id"
  | "tools"
  | "tool_choice"
  | "parallel_tool_calls"
  | "text"
  | "reasoning"
  | "max_output_tokens"
  | "temperature"
  | "top_p"
  | "top_logprobs"
  | "store"
  | "metadata"
  | "user"
>;

/** A request of the Responses API in the internal form, with what only this format knows beside it. */
export interface ResponsesCall {
  /** As the client wrote it; absent: the server's default. */
  model: string | undefined;
  generation: AskedGeneration;
  stream: boolean;
  store: boolean;
  thoughts: ThoughtsShown;
  /** What the model must be able to do, and the field that asks for it. */
  wants: CapabilityWant[];
  /** Types of tools that were left out. */
  skippedTools: string[];
  /** The request's own input, to be kept. */
  input: ResponsesKeptItem[];
  echo: Echo;
}

const LOGPROBS = "message.output_text.logprobs";

/**
 * Reads a validated body of `POST /v1/responses`.
 * @param found what `neededBy` said, as far as it was kept
 * @throws SomnusError invalid_request that names the field
 */
export function readResponsesRequest(
  body: ResponsesRequest,
  id: string,
  found: Found,
  limits: ResponsesLimits,
): ResponsesCall {
  refuseUnsupported(body);
  const format = body.text?.format ?? { type: "text" };
  const json = readFormat(format);
  const { offer, functions, skipped } = readTools(body);
  const wants: CapabilityWant[] = offer ? [{ capability: "tools", param: "tools" }] : [];
  const input = readItems(body, id, found);
  const items = [...keptItems(found.chain), ...input];
  if (items.length === 0) {
    throw invalid("input", "input is empty; it must hold a text or an item at least.");
  }
  const instructions = body.instructions ?? null;
  const messages = readConversation(instructions, items, wants);
  requirePromptWithin(messages, limits.max_prompt_chars, "input");
  requireOfferWithin(offer, limits.max_prompt_chars);
  const maxTokens = Math.min(
    body.max_output_tokens ?? limits.default_max_tokens,
    limits.max_tokens_cap,
  );
  const effort = body.reasoning?.effort ?? null;
  const summary = body.reasoning?.summary ?? null;
  const wantsSummary = summary !== null && summary !== "none";
  const think = effort === null ? wantsSummary : effort !== "none";
  const budget =
    effort === null || effort === "none" || effort === "xhigh" ? undefined : EFFORT_BUDGETS[effort];
  const withLogprobs = body.include?.includes(LOGPROBS) || (body.top_logprobs ?? 0) > 0;
  const store = body.store !== false;
  return {
    model: body.model ?? undefined,
    generation: {
      messages,
      maxTokens,
      sampling: {
        ...(body.temperature == null ? {} : { temperature: body.temperature }),
        ...(body.top_p == null ? {} : { topP: body.top_p }),
      },
      stop: [],
      choices: 1,
      think,
      ...(budget === undefined ? {} : { thinkBudgetTokens: budget }),
      ...(withLogprobs ? { topLogprobs: body.top_logprobs ?? 0 } : {}),
      ...(json === undefined ? {} : { json }),
      ...(offer === undefined ? {} : { offer }),
    },
    stream: body.stream === true,
    store,
    thoughts: think ? (wantsSummary ? "summary" : "text") : "none",
    wants,
    skippedTools: skipped,
    input: input.map(({ item }) => item),
    echo: {
      instructions,
      previous_response_id: body.previous_response_id ?? null,
      tools: functions,
      tool_choice: knownChoice(body.tool_choice ?? "auto"),
      parallel_tool_calls: body.parallel_tool_calls !== false,
      text: { format: knownFormat(format) },
      reasoning: { effort, summary },
      max_output_tokens: maxTokens,
      temperature: body.temperature ?? null,
      top_p: body.top_p ?? null,
      top_logprobs: body.top_logprobs ?? 0,
      store,
      metadata: body.metadata ?? {},
      ...(body.user == null ? {} : { user: body.user }),
    },
  };
}

/** Fields that would change what the answer means and that cannot be honoured. */
function refuseUnsupported(body: ResponsesRequest): void {
  if (body.background === true) {
    throw invalid(
      "background",
      "Responses do not run in the background here; leave background out and stream instead.",
    );
  }
  if (body.conversation != null) {
    throw invalid(
      "conversation",
      "Conversations are not kept under a name here; use previous_response_id.",
    );
  }
  if (body.prompt != null) {
    throw invalid("prompt", "There are no stored prompts here; send instructions and input.");
  }
}

function readFormat(format: ResponsesTextFormat): GenerationRequest["json"] {
  if (format.type === "text") return undefined;
  if (format.type === "json_object") return {};
  const path = "text.format.schema";
  const refusal = holdingRefusal(format.schema);
  if (refusal !== null) throw invalid(path, `${path} ${refusal}.`);
  return { schema: format.schema };
}

function invalid(param: string, message: string): SomnusError {
  return new SomnusError("invalid_request", message, { param });
}
