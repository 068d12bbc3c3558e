import { randomBytes } from "node:crypto";
import { ChatRequest, ChatResponse } from "@somnus/contract";
import {
  readChatRequest,
  writeChatErrorChunk,
  writeChatResponse,
  writeChatStream,
} from "../formats/openai-chat/index.js";
import { defineRoute, jsonReply, type Route, sseReply } from "../http/index.js";
import { deadlineOf } from "./admission.js";
import { requireCapabilities } from "./capabilities.js";
import { GenerationRun } from "./generation-run.js";
import type { InferenceParts } from "./parts.js";

/** `POST /v1/chat/completions` */
export function chatRoute(parts: InferenceParts): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/chat/completions",
    summary: "Answer a conversation, streamed or whole.",
    tags: ["chat"],
    body: ChatRequest,
    replies: {
      200: {
        description:
          "The answer; with `stream: true` as server-sent events, each a chunk, ended by `[DONE]`.",
        content: { "application/json": ChatResponse, "text/event-stream": null },
      },
    },
    scope: "key",
    openWhileStaging: false,
    handler: async (call) => {
      const chat = readChatRequest(call.body, parts.config.limits);
      const deadline = deadlineOf(call, parts.config);
      const model = await parts.pool.resolve(chat.model);
      requireCapabilities(model, chat.wants);
      const { generation, keepAliveMs, includeUsage, showThoughts } = chat;
      const run = new GenerationRun(parts, call, model, { generation, keepAliveMs, deadline });
      const head = {
        id: `chatcmpl-${randomBytes(16).toString("hex")}`,
        created: Math.floor(Date.now() / 1_000),
        model: model.id,
      };
      const { choices, topLogprobs } = generation;
      const how = { head, choices, topLogprobs, showThoughts };
      if (!chat.stream) {
        return jsonReply(
          await run.whole((events, telemetry) => writeChatResponse(events, { ...how, telemetry })),
        );
      }
      return sseReply(
        run.streamed((events, telemetry) =>
          writeChatStream(events, { ...how, includeUsage, telemetry }),
        ),
        {
          onError: (error) =>
            writeChatErrorChunk(head, error, { choice: run.choice, includeUsage }),
        },
      );
    },
  });
}
