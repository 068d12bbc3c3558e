import { EmbeddingsRequest, EmbeddingsResponse } from "@somnus/contract";
import {
  type EmbeddingInput,
  type EmbeddingsCall,
  readEmbeddingsRequest,
  writeEmbeddingsResponse,
} from "../formats/openai-embeddings/index.js";
import { type Call, defineRoute, jsonReply, type Route, SomnusError } from "../http/index.js";
import type { PoolModel } from "../models/index.js";
import { inputsWork, type Lease, roundTokens, withLease } from "../scheduling/index.js";
import { admitWork, deadlineOf } from "./admission.js";
import { framedTokens, roundsOf, tokenBound } from "./inputs.js";
import type { InferenceParts } from "./parts.js";
import { TelemetryRecorder } from "./telemetry.js";

/** `POST /v1/embeddings` */
export function embeddingsRoute(parts: InferenceParts): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/embeddings",
    summary: "Make vectors of texts.",
    tags: ["embeddings"],
    body: EmbeddingsRequest,
    replies: {
      200: {
        description: "The vectors, in the order of the inputs.",
        content: { "application/json": EmbeddingsResponse },
      },
    },
    scope: "key",
    openWhileStaging: false,
    handler: async (call) => {
      const wanted = readEmbeddingsRequest(call.body, parts.config.limits);
      const deadline = deadlineOf(call, parts.config);
      const model = await parts.pool.resolve(wanted.model);
      requireEmbeddings(model);
      requireDimensions(model, wanted.dimensions);
      requireKnownTokens(model, wanted.inputs);
      const { terms } = parts.schedulable(model);
      const work = inputsWork(wanted.inputs.map(tokenBound), terms);
      const options = { keepAliveMs: wanted.keepAliveMs, deadline };
      return jsonReply(
        await withLease(
          () => admitWork(parts, call, model, work, options),
          call.signal,
          (lease) => answer(lease, call, model, wanted),
        ),
      );
    },
  });
}

async function answer(
  lease: Lease,
  { signal }: Pick<Call, "signal">,
  model: PoolModel,
  wanted: EmbeddingsCall,
): Promise<EmbeddingsResponse> {
  const recorder = new TelemetryRecorder(lease, model);
  const { slots, contextTokens, inputTokens } = lease.facts;
  const tokens = await framedTokens(
    lease,
    wanted.inputs,
    { model: model.id, longest: inputTokens ?? contextTokens, truncate: wanted.truncate },
    signal,
  );
  const lengths = tokens.map(({ length }) => length);
  const round = roundTokens(lengths, Math.floor(contextTokens / slots));
  lease.needs(round);
  const vectors: Float32Array[] = [];
  const startedAt = performance.now();
  for (const { from, to } of roundsOf(lengths, round)) {
    for (const vector of await lease.embed(tokens.slice(from, to), signal)) {
      vectors.push(cut(vector, model, wanted.dimensions));
    }
  }
  const promptTokens = lengths.reduce((sum, length) => sum + length, 0);
  recorder.computed({
    prefillMs: performance.now() - startedAt,
    prefillTokens: promptTokens,
  });
  return writeEmbeddingsResponse(vectors, {
    model: model.id,
    encoding: wanted.encoding,
    promptTokens,
    telemetry: recorder.telemetry(),
  });
}

/** The first numbers of a vector, made one of length 1 again. */
function cut(vector: Float32Array, model: PoolModel, dimensions: number | undefined): Float32Array {
  if (dimensions === undefined || dimensions === vector.length) return vector;
  if (dimensions > vector.length) throw wrongDimensions(model, dimensions, vector.length);
  const start = vector.subarray(0, dimensions);
  let squares = 0;
  for (const value of start) squares += value * value;
  return squares === 0 ? start.slice() : start.map((value) => value / Math.sqrt(squares));
}

function requireEmbeddings({ id, modality, gguf }: PoolModel): void {
  if (modality !== "embeddings") {
    throw notForThis(`${id} makes no vectors; it serves ${modality}.`);
  }
  if (gguf?.pooling === "rank") {
    throw notForThis(`${id} makes no vectors, it ranks texts: use /v1/rerank.`);
  }
  if (gguf !== null && (gguf.pooling === null || gguf.pooling === "none")) {
    throw notForThis(
      `The file of ${id} does not say how the vectors of a text's tokens become one; use a file that does.`,
    );
  }
}

function requireDimensions(model: PoolModel, dimensions: number | undefined): void {
  const own = model.gguf?.embeddingLength ?? null;
  if (dimensions === undefined || dimensions === own) return;
  if (!model.matryoshka || (own !== null && dimensions > own)) {
    throw wrongDimensions(model, dimensions, own);
  }
}

function wrongDimensions(
  { id, matryoshka }: PoolModel,
  dimensions: number,
  own: number | null,
): SomnusError {
  const length = own === null ? "its own length" : `${own} numbers`;
  const allowed = matryoshka ? `${length} at most` : `${length}, and cannot be shortened`;
  return new SomnusError(
    "invalid_request",
    `dimensions is ${dimensions}, but vectors of ${id} have ${allowed}.`,
    { param: "dimensions" },
  );
}

function requireKnownTokens({ id, gguf }: PoolModel, inputs: readonly EmbeddingInput[]): void {
  const size = gguf?.vocabularySize ?? Number.POSITIVE_INFINITY;
  for (const input of inputs) {
    if (!("tokens" in input)) continue;
    const unknown = input.tokens.find((token) => token >= size);
    if (unknown === undefined) continue;
    throw new SomnusError(
      "invalid_request",
      `${input.param} has the token ${unknown}, but the vocabulary of ${id} has ${size} tokens.`,
      { param: input.param },
    );
  }
}

function notForThis(message: string): SomnusError {
  return new SomnusError("invalid_request", message, { param: "model" });
}
