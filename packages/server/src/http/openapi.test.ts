import { ChatRequest, Model } from "@somnus/contract";
import Type from "typebox";
import { expect, test } from "vitest";
import { getRoute, testDoor } from "./__fixtures__/test-door.js";
import { defineRoute, jsonReply } from "./index.js";

const chat = defineRoute({
  method: "POST",
  path: "/v1/chat/completions",
  summary: "Chat.",
  tags: ["chat"],
  body: ChatRequest,
  replies: {
    200: {
      description: "The answer.",
      content: { "application/json": Model, "text/event-stream": null },
    },
  },
  scope: "key",
  openWhileStaging: false,
  handler: () => jsonReply({}),
});
const model = defineRoute({
  method: "GET",
  path: "/v1/models/:id",
  summary: "One model.",
  tags: ["models"],
  params: Type.Object({ id: Type.String() }),
  replies: { 200: Model },
  scope: "key",
  openWhileStaging: true,
  handler: () => jsonReply({}),
});
const removeModel = getRoute("/v1/models/:id", () => jsonReply({}), {
  method: "DELETE",
  scope: "admin",
});
const routes = [chat, model, removeModel];

test("every route of the door is in the document, and nothing else", async () => {
  const door = await testDoor({ routes });
  const document = (await door.inject("/openapi.json")).json();
  const documented = Object.entries(document.paths as Record<string, object>).flatMap(
    ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const mounted = door
    .routes()
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
  expect(documented.sort()).toEqual(mounted.sort());
  expect(mounted).toContain("GET /openapi.json");
  expect(document).toMatchObject({ openapi: "3.1.0", info: { version: "1.2.3" } });
});

test("schemas with a name are written once, and every reference has its target", async () => {
  const door = await testDoor({ routes });
  const { body } = await door.inject("/openapi.json");
  const document = JSON.parse(body);
  expect(Object.keys(document.components.schemas)).toEqual(
    expect.arrayContaining(["ChatRequest", "ChatMessage", "Model", "Placement", "ErrorBody"]),
  );
  const operation = document.paths["/v1/chat/completions"].post;
  expect(operation.requestBody.content["application/json"].schema).toEqual({
    $ref: "#/components/schemas/ChatRequest",
  });
  expect(operation.responses["200"].content["application/json"].schema).toEqual({
    $ref: "#/components/schemas/Model",
  });
  for (const [, name] of body.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
    expect(document.components.schemas).toHaveProperty([name ?? ""]);
  }
});

test("the door's own errors are added", async () => {
  const door = await testDoor({ routes });
  const { paths } = (await door.inject("/openapi.json")).json();
  expect(Object.keys(paths["/v1/chat/completions"].post.responses)).toEqual([
    "200",
    "400",
    "403",
    "408",
    "413",
    "415",
    "500",
    "503",
  ]);
  expect(
    paths["/v1/chat/completions"].post.responses["400"].content["application/json"].schema,
  ).toEqual({ $ref: "#/components/schemas/ErrorBody" });
});

test("with keys the document says so, and stays open itself", async () => {
  const door = await testDoor({
    routes,
    server: { api_keys: ["k"] },
    staging: () => ({ reason: "starting" }),
  });
  const answer = await door.inject("/openapi.json");
  expect(answer.statusCode).toBe(200);
  const { components, paths } = answer.json();
  expect(components.securitySchemes).toEqual({
    bearer: { type: "http", scheme: "bearer" },
    apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
  });
  expect(paths["/v1/chat/completions"].post.security).toEqual([{ bearer: [] }, { apiKey: [] }]);
  expect(paths["/v1/chat/completions"].post.responses).toHaveProperty("401");
  expect(paths["/docs"].get.security ?? []).toEqual([]);
});

test("the page and all its files come from this server", async () => {
  const door = await testDoor({ routes, server: { api_keys: ["k"] } });
  const page = await door.inject("/docs");
  expect(page.statusCode).toBe(200);
  expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
  const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? "");
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    const answer = await door.inject(new URL(file, "http://localhost/docs").pathname);
    expect([file, answer.statusCode]).toEqual([file, 200]);
    expect(answer.rawPayload.length).toBeGreaterThan(50);
  }
  expect(page.body).not.toMatch(/<script(?![^>]*src)/);
  expect((await door.inject("/docs/json")).json().openapi).toBe("3.1.0");
});

test("what is no file of the page is 404, in the door's form", async () => {
  const door = await testDoor({ routes });
  for (const path of ["/docs/nope", "/docs/static/nope", "/docs/static/..%2f..%2fpackage.json"]) {
    const answer = await door.inject(path);
    expect([answer.statusCode, answer.json().error.type]).toEqual([404, "not_found"]);
  }
});

test("HEAD works on both", async () => {
  const door = await testDoor({ routes });
  for (const url of ["/openapi.json", "/docs"]) {
    const answer = await door.inject({ method: "HEAD", url });
    expect([answer.statusCode, answer.body]).toEqual([200, ""]);
  }
});
