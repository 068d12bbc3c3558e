import type { ChatRequest } from "@somnus/contract";
import { SomnusError } from "../http/errors.js";
import type { Sampling } from "./generation.js";

type SamplingFields = Pick<
  ChatRequest,
  | "temperature"
  | "top_p"
  | "top_k"
  | "min_p"
  | "repeat_penalty"
  | "presence_penalty"
  | "frequency_penalty"
  | "logit_bias"
  | "seed"
>;

/**
 * Reads the fields that say how tokens are chosen, as OpenAI's bodies have them.
 * @throws SomnusError invalid_request that names the field
 */
export function readSampling(body: SamplingFields): Sampling {
  const bias = readLogitBias(body.logit_bias);
  return {
    ...(body.temperature == null ? {} : { temperature: body.temperature }),
    ...(body.top_p == null ? {} : { topP: body.top_p }),
    ...(body.top_k == null ? {} : { topK: body.top_k }),
    ...(body.min_p == null ? {} : { minP: body.min_p }),
    ...(body.repeat_penalty == null ? {} : { repeatPenalty: body.repeat_penalty }),
    ...(body.presence_penalty == null ? {} : { presencePenalty: body.presence_penalty }),
    ...(body.frequency_penalty == null ? {} : { frequencyPenalty: body.frequency_penalty }),
    ...(body.seed == null ? {} : { seed: body.seed }),
    ...(bias === undefined ? {} : { logitBias: bias }),
  };
}

/** The strings that end an answer: one, several or none. */
export function readStops(stop: ChatRequest["stop"]): string[] {
  return typeof stop === "string" ? [stop] : (stop ?? []);
}

function readLogitBias(bias: ChatRequest["logit_bias"]): Record<string, number> | undefined {
  if (bias == null) return undefined;
  for (const token of Object.keys(bias)) {
    if (!/^\d{1,9}$/.test(token)) {
      throw new SomnusError("invalid_request", "The keys of logit_bias must be token ids.", {
        param: "logit_bias",
      });
    }
  }
  return bias;
}
