import { ErrorBody } from "@somnus/contract";
import { copySchema } from "./json-schema.js";
import type { Method, ReplyDoc, Route } from "./route.js";

type Schema = Record<string, unknown>;

/** What the OpenAPI document says of one route, in the form that @fastify/swagger reads. */
export interface DocumentedRoute {
  readonly method: Method;
  readonly url: string;
  readonly schema: Schema;
}

/** Schemas that the document names once, by their `$id`. */
export type NamedSchemas = Map<string, Schema>;

/**
 * A table row for the OpenAPI document: its schemas refer to the named ones, and the errors that the
 * door itself answers with are added.
 * @param named receives every schema with an `$id`
 * @param keyed whether the door asks for API keys
 */
export function documentRoute(route: Route, named: NamedSchemas, keyed: boolean): DocumentedRoute {
  const refer = (schema: unknown) =>
    copySchema(schema, (id, node) => reference(id, node, named)) as Schema;
  const response: Record<string, Schema> = {};
  for (const [status, doc] of Object.entries(route.replies))
    response[status] = documentReply(doc, refer);
  for (const [status, doc] of Object.entries(doorReplies(route, keyed)))
    response[status] ??= documentReply(doc, refer);
  return {
    method: route.method,
    url: route.path,
    schema: {
      summary: route.summary,
      ...(route.description === undefined ? {} : { description: route.description }),
      tags: [...route.tags],
      ...(route.params ? { params: refer(route.params) } : {}),
      ...(route.query ? { querystring: refer(route.query) } : {}),
      ...(route.body ? { body: refer(route.body) } : {}),
      response,
      security: keyed && route.scope !== "open" ? [{ bearer: [] }, { apiKey: [] }] : [],
    },
  };
}

function reference(id: string, node: Schema, named: NamedSchemas): Schema {
  if (!named.has(id)) named.set(id, node);
  return { $ref: `${id}#` };
}

function documentReply(doc: ReplyDoc, refer: (schema: unknown) => Schema): Schema {
  if (!isBodies(doc)) {
    const { description } = doc as { description?: string };
    return {
      description: description ?? "Success.",
      content: { "application/json": { schema: refer(doc) } },
    };
  }
  const content: Record<string, Schema> = {};
  for (const [type, schema] of Object.entries(doc.content)) {
    content[type] = { schema: schema === null ? { type: "string" } : refer(schema) };
  }
  return { description: doc.description, content };
}

function isBodies(doc: ReplyDoc): doc is Extract<ReplyDoc, { content: unknown }> {
  return "content" in doc;
}

/** What a door answers in the place of a handler. */
function doorReplies(route: Route, keyed: boolean): Record<number, ReplyDoc> {
  const error = (description: string): ReplyDoc => ({
    description,
    content: { "application/json": route.errorBody ?? ErrorBody },
  });
  const text = (description: string): ReplyDoc =>
    route.errorBody ? error(description) : { description, content: { "text/plain": null } };
  return {
    ...(route.body || route.query || route.params
      ? { 400: error("The request is malformed; `param` names the field.") }
      : {}),
    ...(keyed && route.scope !== "open"
      ? { 401: error("The API key is missing or unknown.") }
      : {}),
    403: error("The host, the web origin or the API key may not do this."),
    408: text("The answer did not begin in time."),
    ...(route.body
      ? {
          413: text("The body is larger than the server takes."),
          415: error("The body is not JSON."),
        }
      : {}),
    500: error("The server failed; its log has the cause under the request id."),
    ...(route.scope === "open" && route.openWhileStaging
      ? {}
      : { 503: error("The server is getting ready or shutting down; see `Retry-After`.") }),
  };
}
