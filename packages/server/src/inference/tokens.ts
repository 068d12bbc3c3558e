import {
  ChatRequest,
  DetokenizeRequest,
  DetokenizeResponse,
  InputTokens,
  TokenizeRequest,
  TokenizeResponse,
} from "@somnus/contract";
import { type ChatCall, readChatRequest } from "../formats/openai-chat/index.js";
import { type Call, defineRoute, jsonReply, type Route, SomnusError } from "../http/index.js";
import type { PoolModel } from "../models/index.js";
import { type Lease, TOKENIZER_WORK, withLease } from "../scheduling/index.js";
import { admitWork, deadlineOf } from "./admission.js";
import { requireCapabilities } from "./capabilities.js";
import { forModel } from "./for-model.js";
import { withMedia } from "./media.js";
import type { InferenceParts } from "./parts.js";
import { TelemetryRecorder } from "./telemetry.js";

/**
 * What tells of tokens. None of it has another model go: where the one that is asked is not loaded and has no room,
 * it is refused for now.
 */
export function tokenRoutes(parts: InferenceParts): Route[] {
  return [tokenizeRoute(parts), detokenizeRoute(parts), inputTokensRoute(parts)];
}

function tokenizeRoute(parts: InferenceParts): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/tokenize",
    summary: "Tell the tokens of a text.",
    tags: ["tokens"],
    body: TokenizeRequest,
    replies: {
      200: {
        description: "The tokens, and how many they are.",
        content: { "application/json": TokenizeResponse },
      },
    },
    scope: "key",
    openWhileStaging: false,
    handler: async (call) => {
      const text = textOf(call.body, parts.config.limits.max_prompt_chars);
      const isFramed = call.body.add_special === true;
      const model = await parts.pool.resolve(call.body.model ?? undefined);
      return jsonReply(
        await underLease(parts, call, model, async (lease) => {
          const [tokens = []] = await lease.tokenize([text], call.signal);
          if (isFramed) {
            const { before, after } = await lease.frame(call.signal);
            tokens.unshift(...before);
            tokens.push(...after);
          }
          return { tokens, count: tokens.length };
        }),
      );
    },
  });
}

function detokenizeRoute(parts: InferenceParts): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/detokenize",
    summary: "Tell the text of some tokens.",
    tags: ["tokens"],
    body: DetokenizeRequest,
    replies: {
      200: { description: "The text.", content: { "application/json": DetokenizeResponse } },
    },
    scope: "key",
    openWhileStaging: false,
    handler: async (call) => {
      const { tokens } = call.body;
      const most = parts.config.limits.max_prompt_chars;
      if (tokens.length > most) {
        const message = `tokens has ${tokens.length} items; the limit is ${most} (limits.max_prompt_chars).`;
        throw new SomnusError("invalid_request", message, { param: "tokens" });
      }
      const model = await parts.pool.resolve(call.body.model ?? undefined);
      requireKnown(model, tokens);
      return jsonReply(
        await underLease(parts, call, model, async (lease) => ({
          content: await lease.detokenize(tokens, call.signal),
        })),
      );
    },
  });
}

function inputTokensRoute(parts: InferenceParts): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/chat/completions/input_tokens",
    summary: "Count the tokens that a conversation has as a prompt.",
    tags: ["tokens"],
    body: ChatRequest,
    replies: {
      200: { description: "The count.", content: { "application/json": InputTokens } },
    },
    scope: "key",
    openWhileStaging: false,
    handler: async (call) => {
      const chat = readChatRequest(call.body, parts.config.limits);
      const model = await chatModel(parts, chat);
      const generation = forModel(model, await withMedia(parts, chat.generation, call.signal));
      return jsonReply(
        await underLease(parts, call, model, async (lease) => ({
          input_tokens: await lease.count(generation, call.signal),
        })),
      );
    },
  });
}

/** Does a piece of background work that needs no more of a model than its tokenizer. */
async function underLease<Answer>(
  parts: InferenceParts,
  call: Call<unknown>,
  model: PoolModel,
  ask: (lease: Lease) => Promise<Answer>,
): Promise<
  Answer & { model: string; hypnos_telemetry: ReturnType<TelemetryRecorder["telemetry"]> }
> {
  const deadline = deadlineOf(call, parts.config);
  const options = { keepAliveMs: null, deadline, workload: "background", mayEvict: false } as const;
  return withLease(
    () => admitWork(parts, call, model, TOKENIZER_WORK, options),
    call.signal,
    async (lease) => {
      const recorder = new TelemetryRecorder(lease, model);
      const answer = await ask(lease);
      return { model: model.id, ...answer, hypnos_telemetry: recorder.telemetry() };
    },
  );
}

async function chatModel(
  { pool }: Pick<InferenceParts, "pool">,
  chat: ChatCall,
): Promise<PoolModel> {
  const model = await pool.resolve(chat.model);
  requireCapabilities(model, chat.wants);
  return model;
}

function requireKnown({ id, gguf }: PoolModel, tokens: readonly number[]): void {
  const size = gguf?.vocabularySize ?? Number.POSITIVE_INFINITY;
  const at = tokens.findIndex((token) => token >= size);
  if (at < 0) return;
  throw new SomnusError(
    "invalid_request",
    `tokens[${at}] is ${tokens[at]}, but the vocabulary of ${id} has ${size} tokens.`,
    { param: `tokens[${at}]` },
  );
}

function textOf({ content, text, input }: TokenizeRequest, most: number): string {
  const given = content ?? text ?? input;
  if (given == null) {
    throw new SomnusError("invalid_request", "content is missing; it holds the text.", {
      param: "content",
    });
  }
  if (given.length > most) {
    const message = `The text has ${given.length} characters; the limit is ${most} (limits.max_prompt_chars).`;
    throw new SomnusError("invalid_request", message, { param: "content" });
  }
  return given;
}
