import { type CompletionRequest, MAX_PROMPTS } from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import type { AskedGeneration, RawPrompt } from "../generation.js";
import { parseKeepAlive } from "../keep-alive.js";
import { readSampling, readStops } from "../sampling-fields.js";

/** The limits that a completion body is held to. */
export interface CompletionLimits {
  max_prompt_chars: number;
  max_tokens_cap: number;
  default_max_tokens: number;
}

/** A completion request in the internal form, with what only this format knows beside it. */
export interface CompletionCall {
  /** As the client wrote it; absent: the server's default. */
  model: string | undefined;
  /** Its choices are as many as are to be generated for each prompt. */
  generation: AskedGeneration & { prompts: readonly RawPrompt[] };
  stream: boolean;
  includeUsage: boolean;
  /** Whether answers begin with their prompts. */
  echo: boolean;
  /** Answers for each prompt: the most likely ones of those that are generated. */
  best: number;
  /** Most likely tokens to show in each place; absent when no log probabilities were asked for. */
  logprobs: number | undefined;
  /** How long the model stays loaded afterwards; null: as configured. Infinity: for good. */
  keepAliveMs: number | null;
}

/**
 * Reads a validated completion body.
 * @throws SomnusError invalid_request that names the field
 */
export function readCompletionRequest(
  body: CompletionRequest,
  limits: CompletionLimits,
): CompletionCall {
  const prompts = readPrompts(body);
  requireWithin(prompts, limits.max_prompt_chars);
  const best = body.n ?? 1;
  const choices = readBestOf(body, best);
  const logprobs = body.logprobs ?? undefined;
  if (body.echo === true && logprobs !== undefined) {
    throw invalid(
      "logprobs",
      "logprobs cannot be had of a prompt that is echoed; leave echo or logprobs out.",
    );
  }
  // To rank answers, the log probabilities of their own tokens are needed.
  const topLogprobs = logprobs ?? (choices > best ? 0 : undefined);
  return {
    model: body.model ?? undefined,
    generation: {
      messages: [],
      prompts,
      maxTokens: Math.min(body.max_tokens ?? limits.default_max_tokens, limits.max_tokens_cap),
      sampling: readSampling(body),
      stop: readStops(body.stop),
      choices,
      think: false,
      ...(topLogprobs === undefined ? {} : { topLogprobs }),
      ...(body.num_ctx == null ? {} : { contextTokens: body.num_ctx }),
    },
    stream: body.stream === true,
    includeUsage: body.stream_options?.include_usage === true,
    echo: body.echo === true,
    best,
    logprobs,
    keepAliveMs: body.keep_alive == null ? null : parseKeepAlive(body.keep_alive),
  };
}

function readPrompts({ prompt, suffix }: CompletionRequest): RawPrompt[] {
  const prompts = asList(prompt);
  if (prompts.length === 0) throw invalid("prompt", "prompt is empty; send a text or several.");
  if (prompts.length > MAX_PROMPTS) {
    throw invalid(
      "prompt",
      `prompt has ${prompts.length} items; at most ${MAX_PROMPTS} go at once.`,
    );
  }
  return prompts.map((one, index) => {
    const param = prompts.length === 1 ? "prompt" : `prompt[${index}]`;
    if (suffix == null || suffix === "") {
      if (one.length === 0) throw invalid(param, `${param} is empty.`);
      return typeof one === "string" ? { text: one } : { tokens: one };
    }
    if (typeof one !== "string") {
      throw invalid("suffix", "suffix goes with a prompt that is a text, not with token ids.");
    }
    return { text: one, suffix };
  });
}

function asList(prompt: CompletionRequest["prompt"]): readonly (string | number[])[] {
  if (typeof prompt === "string") return [prompt];
  return isTokens(prompt) ? [prompt] : prompt;
}

function isTokens(prompt: readonly unknown[]): prompt is number[] {
  return typeof prompt[0] === "number";
}

function requireWithin(prompts: readonly RawPrompt[], limit: number): void {
  let length = 0;
  for (const prompt of prompts) {
    length += "tokens" in prompt ? prompt.tokens.length : prompt.text.length;
    if ("suffix" in prompt) length += prompt.suffix?.length ?? 0;
  }
  if (length <= limit) return;
  throw invalid(
    "prompt",
    `The prompts have ${length} characters; the limit is ${limit} (limits.max_prompt_chars).`,
  );
}

/** How many answers are generated for each prompt. */
function readBestOf({ best_of: of, stream }: CompletionRequest, n: number): number {
  if (of == null || of === n) return n;
  if (of < n) throw invalid("best_of", `best_of is ${of}, but n asks for ${n} answers.`);
  if (stream === true) {
    throw invalid("best_of", "best_of cannot be streamed: the answers have to be compared first.");
  }
  return of;
}

function invalid(param: string, message: string): SomnusError {
  return new SomnusError("invalid_request", message, { param });
}
