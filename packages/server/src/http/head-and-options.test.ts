import Type from "typebox";
import { expect, test } from "vitest";
import { getRoute, listeningDoor, testDoor } from "./__fixtures__/test-door.js";
import { defineRoute, jsonReply } from "./index.js";

const item = defineRoute({
  method: "GET",
  path: "/v1/models/:id",
  summary: "One item.",
  tags: [],
  params: Type.Object({ id: Type.String() }),
  replies: {},
  scope: "key",
  openWhileStaging: true,
  handler: ({ params, query }) => jsonReply({ ...params, query }),
});

test("HEAD has the headers of GET and no body", async () => {
  const { url } = await listeningDoor();
  const get = await fetch(`${url}/ping`);
  const head = await fetch(`${url}/ping`, { method: "HEAD" });
  expect(head.status).toBe(200);
  expect(await head.text()).toBe("");
  for (const name of ["content-type", "content-length"])
    expect(head.headers.get(name)).toBe(get.headers.get(name));
});

test("HEAD of what only POST takes is 405", async () => {
  const door = await testDoor();
  const answer = await door.inject({ method: "HEAD", url: "/v1/echo" });
  expect(answer.statusCode).toBe(405);
  expect(answer.headers.allow).toBe("POST, OPTIONS");
});

test("OPTIONS tells what a path takes", async () => {
  const door = await testDoor();
  const answer = await door.inject({ method: "OPTIONS", url: "/ping" });
  expect([answer.statusCode, answer.headers.allow, answer.body]).toEqual([
    204,
    "GET, HEAD, OPTIONS",
    "",
  ]);
  expect((await door.inject({ method: "OPTIONS", url: "/nope" })).statusCode).toBe(404);
});

test.each(["PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"])(
  "%s where it is not possible is 405 with Allow, in JSON",
  async (method) => {
    const door = await testDoor();
    const answer = await door.inject({ method: method as "PUT", url: "/v1/echo" });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers.allow).toBe("POST, OPTIONS");
    expect(answer.json().error.type).toBe("invalid_request_error");
  },
);

test("methods of one path are told together", async () => {
  const del = getRoute("/v1/models/:id", () => jsonReply({}), { method: "DELETE" });
  const door = await testDoor({ routes: [item, del] });
  const answer = await door.inject({ method: "POST", url: "/v1/models/a%2Fb" });
  expect([answer.statusCode, answer.headers.allow]).toEqual([405, "GET, HEAD, DELETE, OPTIONS"]);
});

test.each([
  ["/v1/models/org%2Fmodel:q4", "org/model:q4"],
  ["/v1/models/gemma4:26b-q4", "gemma4:26b-q4"],
  ["/v1/models/a/", "a"],
  ["/v1//models//a", "a"],
  [`/v1/models/${"x".repeat(3_000)}`, "x".repeat(3_000)],
])("%s finds its route", async (url, id) => {
  const door = await testDoor({ routes: [item] });
  const answer = await door.inject(url);
  expect(answer.statusCode).toBe(200);
  expect(answer.json().id).toBe(id);
});

test("an id with a bare slash is another path, and one without end is none", async () => {
  const door = await testDoor({ routes: [item] });
  expect((await door.inject("/v1/models/org/model")).statusCode).toBe(404);
  expect((await door.inject(`/v1/models/${"x".repeat(5_000)}`)).statusCode).toBe(404);
});

test.each(["/%", "/v1/models/%e0%a4%a", "/%zz"])("%s is malformed", async (url) => {
  const door = await testDoor({ routes: [item] });
  const answer = await door.inject(url);
  expect(answer.statusCode).toBe(400);
  expect(answer.json().error.type).toBe("invalid_request_error");
});
