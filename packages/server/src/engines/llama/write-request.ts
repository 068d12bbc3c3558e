import type { GenerationMessage, GenerationRequest, Sampling } from "../../formats/index.js";

/** Seeds run from 0 to 2^32 - 2: the engine takes the highest number for "choose one". */
const SEEDS = 2 ** 32 - 1;

/**
 * The part of the body that decides the prompt; what counts tokens and what generates share it.
 * @param canThink whether the model's template knows thinking
 */
export function promptBody(request: GenerationRequest, canThink: boolean): Record<string, unknown> {
  return {
    messages: request.messages.map(writeMessage),
    ...(request.json ? { response_format: responseFormat(request.json.schema) } : {}),
    ...(canThink ? { chat_template_kwargs: { enable_thinking: request.think } } : {}),
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
  canThink: boolean,
): Record<string, unknown> {
  return {
    ...promptBody(request, canThink),
    stream: true,
    return_progress: true,
    stream_options: { include_usage: true },
    // What is computed in other batches differs in the last digits, and a seed promises the same text.
    cache_prompt: request.sampling.seed === undefined,
    id_slot: slot,
    n_predict: request.maxTokens,
    ...writeSampling(request.sampling, choice),
    ...(request.stop.length > 0 ? writeStop(request.stop) : {}),
    ...(request.topLogprobs === undefined
      ? {}
      : // Zero would switch them off; the reader drops what was not asked for.
        { logprobs: true, top_logprobs: Math.max(1, request.topLogprobs) }),
  };
}

/** A seed of any size as one of the engine's, the same each time; `choice` moves it on. */
export function engineSeed(seed: number, choice: number): number {
  const own = ((seed % SEEDS) + SEEDS) % SEEDS;
  return (own + choice) % SEEDS;
}

function writeMessage(message: GenerationMessage): Record<string, unknown> {
  const [only, ...more] = message.parts;
  if (more.length === 0) return { role: message.role, content: only?.text.toWellFormed() ?? "" };
  return {
    role: message.role,
    content: message.parts.map((part) => ({ type: "text", text: part.text.toWellFormed() })),
  };
}

/** Which of the strings ended an answer stands only in the engine's own account, cut here to that. */
function writeStop(stop: readonly string[]): Record<string, unknown> {
  return {
    stop: stop.map((text) => text.toWellFormed()),
    verbose: true,
    response_fields: ["stopping_word"],
  };
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

function responseFormat(schema: Record<string, unknown> | undefined): Record<string, unknown> {
  if (schema === undefined) return { type: "json_object" };
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
