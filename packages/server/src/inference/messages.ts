import { randomBytes } from "node:crypto";
import {
  CountTokensRequest,
  CountTokensResponse,
  MessagesError,
  MessagesRequest,
  MessagesResponse,
} from "@somnus/contract";
import {
  readCountRequest,
  readMessagesRequest,
  writeMessagesError,
  writeMessagesResponse,
  writeMessagesStream,
} from "../formats/anthropic/index.js";
import { defineRoute, jsonReply, namedEvents, type Route, sseReply } from "../http/index.js";
import { deadlineOf } from "./admission.js";
import { requireCapabilities } from "./capabilities.js";
import { countTokens } from "./count-tokens.js";
import { MESSAGES_REQUEST_ID } from "./door-errors.js";
import { GenerationRun } from "./generation-run.js";
import type { InferenceParts } from "./parts.js";

const EVENTS = namedEvents(() => ({ type: "ping" }));

/** `POST /v1/messages` and `POST /v1/messages/count_tokens`: Anthropic's Messages API. */
export function messagesRoutes(parts: InferenceParts): Route[] {
  return [messagesRoute(parts), countTokensRoute(parts)];
}

function messagesRoute(parts: InferenceParts): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/messages",
    summary: "Answer a conversation in the form of Anthropic's Messages API.",
    tags: ["messages"],
    body: MessagesRequest,
    replies: {
      200: {
        description:
          "The answer; with `stream: true` as server-sent events named by their `type`, ended by `message_stop`.",
        content: { "application/json": MessagesResponse, "text/event-stream": null },
      },
    },
    errorBody: MessagesError,
    scope: "key",
    openWhileStaging: false,
    handler: async (call) => {
      call.setHeader(MESSAGES_REQUEST_ID, call.requestId);
      const asked = readMessagesRequest(call.body, parts.config.limits);
      const deadline = deadlineOf(call, parts.config);
      const model = await parts.pool.resolve(asked.model);
      requireCapabilities(model, asked.wants);
      const { generation, showThoughts } = asked;
      const run = new GenerationRun(parts, call, model, {
        generation,
        keepAliveMs: null,
        deadline,
        mayBeCut: true,
      });
      const head = { id: `msg_${randomBytes(16).toString("hex")}`, model: model.id };
      const how = { head, showThoughts };
      if (!asked.stream) {
        return jsonReply(
          await run.whole((events, telemetry) =>
            writeMessagesResponse(events, { ...how, telemetry }),
          ),
        );
      }
      return sseReply(
        run.streamed((events, telemetry) => writeMessagesStream(events, { ...how, telemetry })),
        { framing: EVENTS, onError: (error) => writeMessagesError(error, call.requestId) },
      );
    },
  });
}

function countTokensRoute(parts: InferenceParts): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/messages/count_tokens",
    summary: "Count the tokens of a conversation's prompt, system text and tools included.",
    tags: ["messages"],
    body: CountTokensRequest,
    replies: { 200: CountTokensResponse },
    errorBody: MessagesError,
    scope: "key",
    openWhileStaging: false,
    handler: async (call) => {
      call.setHeader(MESSAGES_REQUEST_ID, call.requestId);
      const { generation, model: name, wants } = readCountRequest(call.body, parts.config.limits);
      const deadline = deadlineOf(call, parts.config);
      const model = await parts.pool.resolve(name);
      requireCapabilities(model, wants);
      const tokens = await countTokens(parts, call, model, { generation, deadline });
      return jsonReply({ input_tokens: tokens } satisfies CountTokensResponse);
    },
  });
}
