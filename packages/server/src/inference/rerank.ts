import { RerankRequest, RerankResponse } from "@somnus/contract";
import {
  type RerankCall,
  readRerankRequest,
  writeRerankResponse,
} from "../formats/rerank/index.js";
import { type Call, defineRoute, jsonReply, type Route, SomnusError } from "../http/index.js";
import type { PoolModel } from "../models/index.js";
import { inputsWork, type Lease, roundTokens, withLease } from "../scheduling/index.js";
import { admitWork, deadlineOf } from "./admission.js";
import { roundsOf, tokenBound } from "./inputs.js";
import type { InferenceParts } from "./parts.js";
import { TelemetryRecorder } from "./telemetry.js";

/** Models of these kinds say the probability of a fit themselves; the others its logarithm of the odds. */
const TELLS_PROBABILITY = new Set(["qwen3", "qwen3vl"]);

/** `POST /v1/rerank` */
export function rerankRoute(parts: InferenceParts): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/rerank",
    summary: "Order documents by how well they fit a query.",
    tags: ["embeddings"],
    body: RerankRequest,
    replies: {
      200: {
        description: "The documents, the best first.",
        content: { "application/json": RerankResponse },
      },
    },
    scope: "key",
    openWhileStaging: false,
    handler: async (call) => {
      const wanted = readRerankRequest(call.body, parts.config.limits);
      const deadline = deadlineOf(call, parts.config);
      const model = await parts.pool.resolve(wanted.model);
      requireRanks(model);
      const query = tokenBound({ text: wanted.query });
      const bounds = wanted.documents.map((text) => query + tokenBound({ text }));
      const work = inputsWork(bounds, parts.schedulable(model).terms);
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
  wanted: RerankCall,
): Promise<RerankResponse> {
  const recorder = new TelemetryRecorder(lease, model);
  const { slots, contextTokens, inputTokens } = lease.facts;
  const lengths = await pairLengths(lease, wanted, signal);
  const longest = inputTokens ?? contextTokens;
  for (const [index, length] of lengths.entries()) {
    if (length > longest) throw tooLong(model, `documents[${index}]`, length, longest);
  }
  const round = roundTokens(lengths, Math.floor(contextTokens / slots));
  lease.needs(round);
  const scores: number[] = [];
  let promptTokens = 0;
  const startedAt = performance.now();
  for (const { from, to } of roundsOf(lengths, round)) {
    const ranks = await lease.rank(wanted.query, wanted.documents.slice(from, to), signal);
    promptTokens += ranks.tokens;
    scores.push(...ranks.scores);
  }
  recorder.computed({ prefillMs: performance.now() - startedAt, prefillTokens: promptTokens });
  const isProbability = TELLS_PROBABILITY.has(model.gguf?.architecture ?? "");
  return writeRerankResponse(wanted, isProbability ? scores : scores.map(probability), {
    model: model.id,
    promptTokens,
    telemetry: recorder.telemetry(),
  });
}

/** Tokens of the query with each document, and of what the model has around and between them. */
async function pairLengths(
  lease: Lease,
  { query, documents }: RerankCall,
  signal: AbortSignal,
): Promise<number[]> {
  const { before, after } = await lease.frame(signal);
  const [own, ...others] = await lease.tokenize([query, ...documents], signal);
  const around = before.length + 2 * after.length;
  return others.map((tokens) => around + own!.length + tokens.length);
}

function probability(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

function requireRanks({ id, modality, gguf }: PoolModel): void {
  if (modality === "embeddings" && gguf?.pooling === "rank") return;
  throw new SomnusError("invalid_request", `${id} does not rank texts; it serves ${modality}.`, {
    param: "model",
  });
}

function tooLong(model: PoolModel, param: string, tokens: number, longest: number): SomnusError {
  return new SomnusError(
    "context_length_exceeded",
    `${param} and the query have ${tokens} tokens together, and ${model.id} takes ${longest} at most. Shorten them.`,
    { param },
  );
}
