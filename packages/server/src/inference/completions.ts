import { randomBytes } from "node:crypto";
import { CompletionRequest, CompletionResponse } from "@somnus/contract";
import type { RawPrompt } from "../formats/index.js";
import {
  readCompletionRequest,
  writeCompletionErrorChunk,
  writeCompletionResponse,
  writeCompletionStream,
} from "../formats/openai-completions/index.js";
import { defineRoute, jsonReply, type Route, SomnusError, sseReply } from "../http/index.js";
import type { PoolModel } from "../models/index.js";
import type { Lease } from "../scheduling/index.js";
import { deadlineOf } from "./admission.js";
import { requireCapabilities } from "./capabilities.js";
import { GenerationRun } from "./generation-run.js";
import type { InferenceParts } from "./parts.js";

/** `POST /v1/completions` */
export function completionsRoute(parts: InferenceParts): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/completions",
    summary: "Go on with texts as they are, streamed or whole.",
    tags: ["completions"],
    body: CompletionRequest,
    replies: {
      200: {
        description:
          "What was written; with `stream: true` as server-sent events, each a chunk, ended by `[DONE]`.",
        content: { "application/json": CompletionResponse, "text/event-stream": null },
      },
    },
    scope: "key",
    openWhileStaging: false,
    handler: async (call) => {
      const asked = readCompletionRequest(call.body, parts.config.limits);
      const deadline = deadlineOf(call, parts.config);
      const model = await parts.pool.resolve(asked.model);
      requireCapabilities(model, []);
      const { generation, keepAliveMs, includeUsage, logprobs, best } = asked;
      const { prompts, choices: generated } = generation;
      requireKnownPrompts(model, prompts);
      let echoes: readonly string[] = [];
      const run = new GenerationRun(parts, call, model, {
        generation,
        keepAliveMs,
        deadline,
        field: "prompt",
        before: async (lease, signal) => {
          if (asked.echo) echoes = await textsOf(prompts, lease, signal);
        },
      });
      const head = {
        id: `cmpl-${randomBytes(16).toString("hex")}`,
        created: Math.floor(Date.now() / 1_000),
        model: model.id,
      };
      const how = { head, generated, logprobs };
      if (!asked.stream) {
        return jsonReply(
          await run.whole((events, telemetry) =>
            writeCompletionResponse(events, {
              ...how,
              prompts: prompts.length,
              best,
              echoes,
              telemetry,
            }),
          ),
        );
      }
      const choices = prompts.length * generated;
      return sseReply(
        run.streamed((events, telemetry) =>
          writeCompletionStream(events, { ...how, choices, echoes, includeUsage, telemetry }),
        ),
        {
          onError: (error) =>
            writeCompletionErrorChunk(head, error, { choice: run.choice, includeUsage }),
        },
      );
    },
  });
}

/** Prompts in words, for those who want them back. */
function textsOf(
  prompts: readonly RawPrompt[],
  lease: Lease,
  signal: AbortSignal,
): Promise<string[]> {
  return Promise.all(
    prompts.map((prompt) =>
      "text" in prompt ? prompt.text : lease.detokenize([...prompt.tokens], signal),
    ),
  );
}

function requireKnownPrompts({ id, gguf }: PoolModel, prompts: readonly RawPrompt[]): void {
  const size = gguf?.vocabularySize ?? Number.POSITIVE_INFINITY;
  for (const [index, prompt] of prompts.entries()) {
    if (!("tokens" in prompt)) continue;
    const unknown = prompt.tokens.find((token) => token >= size);
    if (unknown === undefined) continue;
    const param = prompts.length === 1 ? "prompt" : `prompt[${index}]`;
    throw new SomnusError(
      "invalid_request",
      `${param} has the token ${unknown}, but the vocabulary of ${id} has ${size} tokens.`,
      { param },
    );
  }
}
