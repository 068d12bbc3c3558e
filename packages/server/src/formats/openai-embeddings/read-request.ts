import { type EmbeddingsRequest, MAX_INPUTS } from "@somnus/contract";
import { SomnusError } from "../../http/errors.js";
import { parseKeepAlive } from "../keep-alive.js";

/** One thing to make a vector of. `param`: the field that it came in. */
export type EmbeddingInput = { param: string } & ({ text: string } | { tokens: number[] });

/** An embeddings request in the internal form. */
export interface EmbeddingsCall {
  /** As the client wrote it; absent: the server's default. */
  model: string | undefined;
  /** One or more, none of them empty. */
  inputs: EmbeddingInput[];
  encoding: "float" | "base64";
  /** Length of the vectors; absent: the model's own. */
  dimensions?: number;
  /** Whether an input that is too long is cut. */
  truncate: boolean;
  /** How long the model stays loaded afterwards; null: as configured. Infinity: for good. */
  keepAliveMs: number | null;
}

/**
 * Reads a validated embeddings body.
 * @throws SomnusError invalid_request that names the field
 */
export function readEmbeddingsRequest(
  body: EmbeddingsRequest,
  limits: { max_prompt_chars: number },
): EmbeddingsCall {
  const inputs = readInputs(body.input);
  if (inputs.length === 0) throw invalid("input", "input is empty; send a text or several.");
  let length = 0;
  for (const input of inputs) {
    const own = "text" in input ? input.text.length : input.tokens.length;
    if (own === 0) throw invalid(input.param, `${input.param} is empty; leave it out.`);
    length += own;
  }
  if (length > limits.max_prompt_chars) {
    throw invalid(
      "input",
      `The inputs have ${length} characters; the limit is ${limits.max_prompt_chars} (limits.max_prompt_chars).`,
    );
  }
  return {
    model: body.model ?? undefined,
    inputs,
    encoding: body.encoding_format ?? "float",
    ...(body.dimensions == null ? {} : { dimensions: body.dimensions }),
    truncate: body.truncate === true,
    keepAliveMs: body.keep_alive == null ? null : parseKeepAlive(body.keep_alive),
  };
}

function readInputs(input: EmbeddingsRequest["input"]): EmbeddingInput[] {
  if (typeof input === "string") return [{ param: "input", text: input }];
  if (isTokens(input)) return [{ param: "input", tokens: input }];
  if (input.length > MAX_INPUTS) {
    throw invalid("input", `input has ${input.length} items; at most ${MAX_INPUTS} go at once.`);
  }
  return input.map((item: string | number[], index) => {
    const param = `input[${index}]`;
    return typeof item === "string" ? { param, text: item } : { param, tokens: item };
  });
}

function isTokens(input: readonly unknown[]): input is number[] {
  return typeof input[0] === "number";
}

function invalid(param: string, message: string): SomnusError {
  return new SomnusError("invalid_request", message, { param });
}
