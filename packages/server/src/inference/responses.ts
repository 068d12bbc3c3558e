import { randomBytes } from "node:crypto";
import {
  ResponsesAnswer,
  ResponsesDeleted,
  ResponsesItems,
  ResponsesItemsQuery,
  ResponsesQuery,
  ResponsesRequest,
} from "@somnus/contract";
import Type from "typebox";
import {
  type Found,
  type KeptExchange,
  neededBy,
  notKept,
  type ResponsesCall,
  ResponsesWriter,
  readResponsesRequest,
  responseIdOf,
  writeResponsesAnswer,
} from "../formats/openai-responses/index.js";
import {
  type Call,
  defineRoute,
  jsonReply,
  namedEvents,
  type Reply,
  type Route,
  SomnusError,
  sseReply,
} from "../http/index.js";
import { deadlineOf } from "./admission.js";
import { requireCapabilities } from "./capabilities.js";
import { GenerationRun } from "./generation-run.js";
import type { InferenceParts } from "./parts.js";
import type { KeptResponse } from "./response-keeper.js";
import { RunningResponses } from "./running-responses.js";
import { StreamedResponse } from "./streamed-response.js";

const SKIPPED_TOOLS = "x-somnus-skipped-tools";
/** What a type of tool is called where it is named in a header. */
const TOOL_TYPE = /^[a-z0-9_.-]{1,64}$/;
/** Most types of tools that the header names. */
const MOST_NAMED = 16;
const DEFAULT_PAGE = 20;

const IdParams = Type.Object({ id: Type.String() });

/** The routes of the Responses API. */
export function responsesRoutes(parts: InferenceParts): Route[] {
  const running = new RunningResponses();
  return [
    createRoute(parts, running),
    getRoute(parts, running),
    deleteRoute(parts, running),
    itemsRoute(parts),
    cancelRoute(parts, running),
  ];
}

function createRoute(parts: InferenceParts, running: RunningResponses): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/responses",
    summary: "Answer a conversation in the form of OpenAI's Responses API.",
    tags: ["responses"],
    body: ResponsesRequest,
    replies: {
      200: {
        description:
          "The response; with `stream: true` as server-sent events named by their `type`, numbered, ended by `response.completed`, `response.incomplete` or `response.failed`.",
        content: { "application/json": ResponsesAnswer, "text/event-stream": null },
      },
    },
    scope: "key",
    openWhileStaging: false,
    handler: async (call) => {
      const id = responseIdOf(randomBytes(16).toString("hex"));
      const owner = ownerOf(call);
      const found = await find(parts, owner, call.body);
      const asked = readResponsesRequest(call.body, id, found, parts.config.limits);
      const deadline = deadlineOf(call, parts.config);
      const model = await parts.pool.resolve(asked.model);
      requireCapabilities(model, asked.wants);
      tellSkipped(call, asked.skippedTools);
      const { generation, thoughts, input } = asked;
      const store = asked.store && parts.responses.canKeep({ input, echo: asked.echo });
      const now = () => Math.floor(Date.now() / 1_000);
      const head = { id, createdAt: now(), model: model.id, echo: { ...asked.echo, store } };
      const newWriter = () =>
        new ResponsesWriter(head, { thoughts, topLogprobs: generation.topLogprobs, now });
      const keep = (response: ResponsesAnswer) => {
        if (store) parts.responses.save(owner, { response, input });
      };
      const how = { generation, keepAliveMs: null, deadline, mayBeCut: true };
      if (!asked.stream) {
        const run = new GenerationRun(parts, call, model, how);
        const answer = await run.whole((events, telemetry) =>
          writeResponsesAnswer(newWriter(), events, telemetry),
        );
        keep(answer);
        return jsonReply(answer);
      }
      const writer = newWriter();
      const streamed = new StreamedResponse(owner, writer, (response) => {
        running.delete(id);
        if (response) keep(response);
      });
      running.add(id, streamed);
      call.onEnd(() => streamed.close());
      const run = new GenerationRun(parts, call, model, { ...how, signal: streamed.signal });
      const events = run.streamed((all, telemetry) => streamed.write(all, telemetry));
      return sseReply(events, {
        framing: namedEvents(() => writer.silence()),
        onError: (error) => streamed.fail(error),
      });
    },
  });
}

function getRoute(parts: InferenceParts, running: RunningResponses): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/responses/:id",
    summary: "A response that was kept, or one that is being streamed as far as it is.",
    tags: ["responses"],
    params: IdParams,
    query: ResponsesQuery,
    replies: { 200: ResponsesAnswer },
    scope: "key",
    openWhileStaging: true,
    handler: async (call) => {
      if (call.query.stream !== undefined && call.query.stream !== "false") {
        throw new SomnusError(
          "invalid_request",
          "A response is streamed only while it is made; leave stream out.",
          { param: "stream" },
        );
      }
      const { id } = call.params;
      const streamed = running.get(ownerOf(call), id);
      return jsonReply(streamed ? streamed.response() : (await kept(parts, call, id)).response);
    },
  });
}

function deleteRoute(parts: InferenceParts, running: RunningResponses): Route {
  return defineRoute({
    method: "DELETE",
    path: "/v1/responses/:id",
    summary: "Keep a response no longer.",
    tags: ["responses"],
    params: IdParams,
    replies: { 200: ResponsesDeleted },
    scope: "key",
    openWhileStaging: true,
    handler: async (call) => {
      const { id } = call.params;
      const owner = ownerOf(call);
      if (running.get(owner, id)) {
        throw new SomnusError(
          "conflict",
          `The response ${id} is still being made; cancel it first.`,
        );
      }
      if (!(await parts.responses.remove(owner, id))) throw notFound(id);
      return jsonReply({ id, object: "response", deleted: true } satisfies ResponsesDeleted);
    },
  });
}

function itemsRoute(parts: InferenceParts): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/responses/:id/input_items",
    summary:
      "The input of a response that was kept, without that of the responses it goes on from.",
    tags: ["responses"],
    params: IdParams,
    query: ResponsesItemsQuery,
    replies: { 200: ResponsesItems },
    scope: "key",
    openWhileStaging: true,
    handler: async (call) => {
      const { limit, order, after } = call.query;
      const { input } = await kept(parts, call, call.params.id);
      const all = order === "asc" ? [...input] : [...input].reverse();
      const start = after === undefined ? 0 : all.findIndex((item) => item.id === after) + 1;
      if (after !== undefined && start === 0) {
        throw new SomnusError("invalid_request", "after names no item of this response.", {
          param: "after",
        });
      }
      const data = all.slice(start, start + Number(limit ?? DEFAULT_PAGE));
      return jsonReply({
        object: "list",
        data,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
        has_more: start + data.length < all.length,
      } satisfies ResponsesItems);
    },
  });
}

function cancelRoute(parts: InferenceParts, running: RunningResponses): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/responses/:id/cancel",
    summary: "End a response that is being streamed; what there is of it is kept.",
    tags: ["responses"],
    params: IdParams,
    replies: { 200: ResponsesAnswer },
    scope: "key",
    openWhileStaging: true,
    handler: async (call): Promise<Reply> => {
      const { id } = call.params;
      const cancelled = await running.cancel(ownerOf(call), id);
      if (cancelled) return jsonReply(cancelled);
      const { response } = await kept(parts, call, id);
      throw new SomnusError(
        "invalid_request",
        `The response ${id} is ${response.status}; only one that is being streamed can be cancelled.`,
      );
    },
  });
}

/** Whose responses a caller may see: those of its key, or of everybody where no keys are needed. */
function ownerOf(call: Pick<Call, "caller">): string {
  return call.caller?.label ?? "";
}

async function find(parts: InferenceParts, owner: string, body: ResponsesRequest): Promise<Found> {
  const needed = neededBy(body);
  const [chain, responses] = await Promise.all([
    needed.previous === null ? [] : parts.responses.chain(owner, needed.previous),
    parts.responses.some(owner, needed.responses),
  ]);
  const last = chain?.at(-1)?.response.status;
  if (chain === null || last === "failed" || last === "cancelled") {
    throw notKept(needed.previous ?? "");
  }
  return { chain: chain.map(exchangeOf), responses: responses.map(exchangeOf) };
}

function exchangeOf({ response, input }: KeptResponse): KeptExchange {
  return { id: response.id, input, output: response.output };
}

async function kept(
  parts: InferenceParts,
  call: Pick<Call, "caller">,
  id: string,
): Promise<KeptResponse> {
  const found = await parts.responses.get(ownerOf(call), id);
  if (found) return found;
  throw notFound(id);
}

function notFound(id: string): SomnusError {
  return new SomnusError(
    "not_found",
    `There is no response ${JSON.stringify(id.slice(0, 80))}: it was never kept, or is not kept any more.`,
  );
}

/** Tools that were left out are named in a header, besides missing in the answer's `tools`. */
function tellSkipped(call: Call, types: ResponsesCall["skippedTools"]): void {
  if (types.length === 0) return;
  const named = types.slice(0, MOST_NAMED).map((type) => (TOOL_TYPE.test(type) ? type : "other"));
  call.setHeader(SKIPPED_TOOLS, [...new Set(named)].join(", "));
  call.log.debug({ types: named }, "tools that nothing here can run were left out");
}
