import { expect, test } from "vitest";
import { RawConnection, REQUEST_ID, REQUEST_ID_LINE } from "./__fixtures__/raw-http.js";
import { getRoute, listeningDoor, testDoor } from "./__fixtures__/test-door.js";
import { jsonReply } from "./index.js";
import { newRequestId } from "./request-id.js";

test("ids are distinct, also over the size of the pool", () => {
  const ids = new Set(Array.from({ length: 1_000 }, newRequestId));
  expect(ids.size).toBe(1_000);
  for (const id of ids) expect(id).toMatch(REQUEST_ID);
});

test.each([
  ["an answer", { method: "GET", url: "/ping" }, 200],
  ["HEAD", { method: "HEAD", url: "/ping" }, 200],
  ["an unknown path", { method: "GET", url: "/nope" }, 404],
  ["a malformed path", { method: "GET", url: "/%zz" }, 400],
  ["a wrong method", { method: "PUT", url: "/ping" }, 405],
  ["an unknown method", { method: "PROPFIND", url: "/ping" }, 405],
  ["OPTIONS", { method: "OPTIONS", url: "/ping" }, 204],
  ["a missing body", { method: "POST", url: "/v1/echo" }, 400],
  [
    "a body of another kind",
    { method: "POST", url: "/v1/echo", payload: "a=b", headers: { "content-type": "text/csv" } },
    415,
  ],
  [
    "a malformed content type",
    { method: "POST", url: "/v1/echo", payload: "{}", headers: { "content-type": "nonsense" } },
    415,
  ],
  [
    "a body over the limit",
    { method: "POST", url: "/v1/echo", payload: { text: "x".repeat(1_100_000) } },
    413,
  ],
  [
    "a preflight",
    {
      method: "OPTIONS",
      url: "/ping",
      headers: { origin: "http://localhost:3000", "access-control-request-method": "GET" },
    },
    204,
  ],
] as const)("is on %s", async (_, request, status) => {
  const door = await testDoor();
  const answer = await door.inject(request as Parameters<typeof door.inject>[0]);
  expect(answer.statusCode).toBe(status);
  expect(answer.headers["x-request-id"]).toMatch(REQUEST_ID);
});

test("is the one that the handler sees, and never the client's", async () => {
  const door = await testDoor({ routes: [getRoute("/id", (call) => jsonReply(call.requestId))] });
  const answer = await door.inject({
    url: "/id",
    headers: { "x-request-id": "mine", "request-id": "mine" },
  });
  expect(answer.json()).toBe(answer.headers["x-request-id"]);
  expect(answer.json()).toMatch(REQUEST_ID);
});

test("is on a request without a Host and on one with an unknown expectation", async () => {
  const { port } = await listeningDoor();
  const noHost = new RawConnection(port);
  noHost.send("GET /ping HTTP/1.1\r\n\r\n");
  expect(await noHost.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 400 /);
  expect(noHost.text).toMatch(REQUEST_ID_LINE);

  const expecting = new RawConnection(port);
  expecting.send("GET /ping HTTP/1.1\r\nHost: localhost\r\nExpect: the-best\r\n\r\n");
  expect(await expecting.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 200 /);
  expect(expecting.text).toMatch(REQUEST_ID_LINE);
});
