import type { StaticDocumentSpec } from "@fastify/swagger";
import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import { SomnusError } from "./errors.js";
import { documentRoute, type NamedSchemas } from "./openapi.js";
import { defineRoute, type Reply, type Route } from "./route.js";

/**
 * The page loads nothing from other hosts. Its program is a file of ours; it sets styles on elements,
 * which counts as inline.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** What a door's documentation is made from. */
export interface DocsSource {
  readonly title: string;
  readonly version: string;
  readonly routes: readonly Route[];
  /** Whether the door asks for API keys. */
  readonly keyed: boolean;
}

/** The routes that document a door, themselves included. */
export interface Docs {
  /** `/openapi.json` and `/docs`. */
  readonly routes: readonly Route[];
  /** The files of the page; no part of the document. */
  readonly assets: readonly Route[];
}

/**
 * The OpenAPI document and the page that shows it. Generator, page and files are loaded by the first
 * request for one of them, and stay out of the way of every other.
 */
export function createDocs(source: DocsSource): Docs {
  const document = once(async () =>
    JSON.stringify(await writeDocument({ ...source, routes: [...source.routes, ...routes] })),
  );
  const page = once(async () => createPage(JSON.parse(await document()) as object));

  const open = {
    method: "GET",
    tags: ["documentation"],
    scope: "open",
    openWhileStaging: true,
  } as const;
  const pageHandler: Route["handler"] = async ({ rawUrl, headers }) => {
    const known = headers["if-none-match"];
    return replyOf(
      await (await page()).inject({
        method: "GET",
        url: rawUrl,
        headers: known === undefined ? {} : { "if-none-match": known },
      }),
    );
  };
  const routes: readonly Route[] = [
    defineRoute({
      ...open,
      path: "/openapi.json",
      summary: "Describe this API as an OpenAPI document.",
      replies: { 200: { description: "The document.", content: { "application/json": null } } },
      handler: async () => ({
        kind: "whole",
        status: 200,
        contentType: "application/json; charset=utf-8",
        body: await document(),
      }),
    }),
    defineRoute({
      ...open,
      path: "/docs",
      summary: "Show this API as a web page.",
      replies: { 200: { description: "The page.", content: { "text/html": null } } },
      handler: pageHandler,
    }),
  ];
  const assets = [
    defineRoute({
      ...open,
      path: "/docs/*",
      summary: "Files of the page.",
      replies: {},
      handler: pageHandler,
    }),
  ];
  return { routes, assets };
}

/** Runs `make` on the first call and remembers its result; a failure is forgotten. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
}

/** Where a key may stand; clients of Anthropic send it in a header of its own. */
const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer" },
  apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
} as const;

/** Headers of the page's files that go on to the client. */
const PAGE_HEADERS = [
  "content-security-policy",
  "etag",
  "last-modified",
  "cache-control",
  "location",
];

function replyOf({ statusCode, headers, rawPayload }: LightMyRequestResponse): Reply {
  if (statusCode === 404) throw new SomnusError("not_found", "The documentation has no such file.");
  const kept: Record<string, string> = {};
  for (const name of PAGE_HEADERS) {
    const value = headers[name];
    if (value !== undefined) kept[name] = String(value);
  }
  const contentType = String(headers["content-type"] ?? "application/octet-stream");
  return { kind: "whole", status: statusCode, headers: kept, contentType, body: rawPayload };
}

/** Lets the generator see the routes in an application that is thrown away. */
async function writeDocument({ title, version, routes, keyed }: DocsSource): Promise<object> {
  const [{ fastify }, { default: swagger }] = await Promise.all([
    import("fastify"),
    import("@fastify/swagger"),
  ]);
  const app = fastify({ logger: false, exposeHeadRoutes: false });
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title, version },
      ...(keyed ? { components: { securitySchemes: SECURITY_SCHEMES } } : {}),
    },
    convertConstToEnum: false,
    refResolver: {
      buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `schema-${i}`),
    },
  });
  const named: NamedSchemas = new Map();
  const documented = routes.map((route) => documentRoute(route, named, keyed));
  for (const [id, schema] of named) app.addSchema({ ...schema, $id: id });
  // Nothing is ever sent to these routes; only their schemas are read.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  for (const { method, url, schema } of documented)
    app.route({ method, url, schema, handler: () => null });
  await app.ready();
  const document = app.swagger();
  await app.close();
  return document;
}

/** The page and its files, in an application that never listens. */
async function createPage(document: object): Promise<FastifyInstance> {
  const [{ fastify }, { default: swagger }, { default: swaggerUi }] = await Promise.all([
    import("fastify"),
    import("@fastify/swagger"),
    import("@fastify/swagger-ui"),
  ]);
  const app = fastify({
    logger: false,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true },
  });
  await app.register(swagger, {
    mode: "static",
    specification: { document } as StaticDocumentSpec,
  });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: PAGE_POLICY,
    uiConfig: { validatorUrl: null, docExpansion: "list", layout: "BaseLayout" },
    theme: { title: "Somnus API" },
  });
  await app.ready();
  return app;
}
