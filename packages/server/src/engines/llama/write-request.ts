import {
  type GenerationMessage,
  type GenerationRequest,
  holdSchema,
  type MessagePart,
  type Sampling,
  type Tool,
  type ToolCall,
  type ToolOffer,
} from "../../formats/index.js";
import { callOrJsonSchema, callSchema, severalCalls, toldInWords } from "./calls/index.js";

/** Seeds run from 0 to 2^32 - 2: the engine takes the highest number for "choose one". */
const SEEDS = 2 ** 32 - 1;

/** What a model's template knows. */
export interface Template {
  tools: boolean;
  reasoning: boolean;
}

/**
 * The part of the body that decides the prompt; what counts tokens and what generates share it. How free the
 * model is to call is no part of the prompt.
 */
export function promptBody(
  request: GenerationRequest,
  template: Template,
): Record<string, unknown> {
  const { offer, messages } = request;
  const inWords = offer?.prompted === true || !template.tools;
  const told = inWords ? toldInWords(messages, offer?.tools ?? []) : messages;
  const format = responseFormat(request);
  return {
    messages: told.map(writeMessage),
    ...(offer && !inWords ? writeOffer(offer) : {}),
    ...(format ? { response_format: format } : {}),
    ...(template.reasoning ? { chat_template_kwargs: { enable_thinking: request.think } } : {}),
  };
}

/**
 * The body of `/v1/chat/completions` for one choice. Always a stream with progress: it is the only
 * form in which the engine notices a client that left, and in which its silence can be told.
 * @param choice index of the alternative; moves the seed
 */
export function chatBody(
  request: GenerationRequest,
  slot: number,
  choice: number,
  template: Template,
): Record<string, unknown> {
  return {
    ...promptBody(request, template),
    ...commonBody(request, slot, choice),
    ...writeLogprobs(request),
    ...(template.reasoning ? writeThoughts(request) : {}),
  };
}

/**
 * The body of `/v1/completions`, which goes on with a prompt as it is. Otherwise as `chatBody`.
 * @param choice index of the alternative among those of this prompt
 */
export function completionBody(
  request: GenerationRequest,
  prompt: string | readonly number[],
  slot: number,
  choice: number,
): Record<string, unknown> {
  const { topLogprobs } = request;
  return {
    prompt,
    ...commonBody(request, slot, choice),
    ...(topLogprobs === undefined ? {} : { n_probs: Math.max(1, topLogprobs) }),
  };
}

function commonBody(
  request: GenerationRequest,
  slot: number,
  choice: number,
): Record<string, unknown> {
  return {
    stream: true,
    return_progress: true,
    stream_options: { include_usage: true },
    // What is computed in other batches differs in the last digits, and a seed promises the same text.
    cache_prompt: request.sampling.seed === undefined,
    id_slot: slot,
    n_predict: request.maxTokens,
    ...writeSampling(request.sampling, choice),
    ...(stopOf(request).length > 0 ? { timings_per_token: true } : {}),
  };
}

/**
 * The strings that end an answer's text; one that is all calls has none. They are looked for here, not by the
 * engine, which then has to tell its count of tokens with each of them (`timings_per_token`).
 */
export function stopOf(request: GenerationRequest): readonly string[] {
  return mustCall(request) ? [] : request.stop;
}

/** A seed of any size as one of the engine's, the same each time; `choice` moves it on. */
export function engineSeed(seed: number, choice: number): number {
  const own = ((seed % SEEDS) + SEEDS) % SEEDS;
  return (own + choice) % SEEDS;
}

/** Zero would switch them off; the reader drops what was not asked for. */
function writeLogprobs({ topLogprobs, offer }: GenerationRequest): Record<string, unknown> {
  if (topLogprobs === undefined) return {};
  const most = Math.max(1, topLogprobs);
  // Beside tools only the engine's own name for it is taken in a stream.
  return offer ? { n_probs: most } : { logprobs: true, top_logprobs: most };
}

/** A block of thoughts is closed at its limit, and at once where there are to be none. */
function writeThoughts({ think, thinkBudgetTokens }: GenerationRequest): Record<string, unknown> {
  const budget = think ? thinkBudgetTokens : 0;
  return budget === undefined ? {} : { thinking_budget_tokens: budget };
}

function writeMessage(message: GenerationMessage): Record<string, unknown> {
  return {
    role: message.role,
    content: writeContent(message),
    ...(message.calls?.length ? { tool_calls: message.calls.map(writeCall) } : {}),
    ...(message.result
      ? {
          tool_call_id: message.result.callId.toWellFormed(),
          name: message.result.name.toWellFormed(),
        }
      : {}),
  };
}

function writeContent({ parts }: GenerationMessage): unknown {
  const [only, ...more] = parts;
  if (only === undefined) return "";
  if (more.length === 0 && only.type === "text") return only.text.toWellFormed();
  return parts.map(writePart);
}

function writePart(part: MessagePart): unknown {
  if (part.type === "text") return { type: "text", text: part.text.toWellFormed() };
  if (part.type === "sound") {
    const data = part.wav.toString("base64");
    return { type: "input_audio", input_audio: { data, format: "wav" } };
  }
  const url = `data:image/png;base64,${part.png.toString("base64")}`;
  return { type: "image_url", image_url: { url } };
}

function writeCall(call: ToolCall): unknown {
  return {
    id: call.id.toWellFormed(),
    type: "function",
    function: { name: call.name.toWellFormed(), arguments: call.arguments.toWellFormed() },
  };
}

function writeOffer(offer: ToolOffer): Record<string, unknown> {
  return {
    tools: offer.tools.map(writeTool),
    // A template that cannot hold an answer to a schema sees to the call by itself.
    ...(offer.choice === "auto" ? {} : { tool_choice: "required" }),
    parallel_tool_calls: severalCalls(offer),
  };
}

function writeTool({ name, description, parameters }: Tool): unknown {
  const told = { name, ...(description === undefined ? {} : { description }), parameters };
  return { type: "function", function: wellFormed(told) };
}

function writeSampling(sampling: Sampling, choice: number): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  const set = (name: string, value: unknown) => {
    if (value !== undefined) out[name] = value;
  };
  set("temperature", sampling.temperature);
  set("top_p", sampling.topP);
  set("top_k", sampling.topK);
  set("min_p", sampling.minP);
  set("repeat_penalty", sampling.repeatPenalty);
  set("presence_penalty", sampling.presencePenalty);
  set("frequency_penalty", sampling.frequencyPenalty);
  set("logit_bias", sampling.logitBias);
  if (sampling.seed !== undefined) out.seed = engineSeed(sampling.seed, choice);
  return out;
}

function mustCall({ offer }: Pick<GenerationRequest, "offer">): boolean {
  return offer !== undefined && offer.choice !== "auto";
}

/**
 * The schema that the answer is held to. An answer that must be a call is one of calls: the engine's own way
 * leaves a model free to write for ever before its call.
 */
function responseFormat({ offer, json }: GenerationRequest): Record<string, unknown> | undefined {
  if (offer && mustCall({ offer })) return held(callSchema(offer));
  if (!json) return undefined;
  if (offer) return held(callOrJsonSchema(offer, json.schema && holdSchema(json.schema)));
  return json.schema === undefined ? { type: "json_object" } : held(holdSchema(json.schema));
}

function held(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { type: "json_schema", json_schema: { schema: wellFormed(schema) } };
}

/** The value with every string in it well-formed, keys too. Only as deep as a format lets a schema be. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, held]) => [key.toWellFormed(), wellFormed(held)]),
  );
}
