import { expect, test } from "vitest";
import { RawConnection, REQUEST_ID_LINE } from "./__fixtures__/raw-http.js";
import { getRoute, listeningDoor, signalled } from "./__fixtures__/test-door.js";
import { jsonReply } from "./index.js";

test.each([
  ["no HTTP at all", "hello there\r\n\r\n", 400],
  ["an unknown method", "BREW /ping HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
  ["a TLS greeting", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
  [
    "two lengths",
    "POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    400,
  ],
  [
    "a malformed chunk",
    "POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    400,
  ],
  ["headers without end", `GET /ping HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(40_000)}`, 431],
  ["a path without end", `GET /${"x".repeat(40_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
])("%s is answered with JSON and the connection ends", async (_, sent, status) => {
  const { port } = await listeningDoor();
  const connection = new RawConnection(port);
  connection.send(sent);
  await connection.closed;
  expect(connection.text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(connection.text).toMatch(REQUEST_ID_LINE);
  expect(connection.text).toMatch(/^connection: close\r$/im);
  const [, body = ""] = connection.text.split("\r\n\r\n");
  expect(JSON.parse(body).error.type).toBe("invalid_request_error");
});

test("garbage after a request that has begun to answer only ends the connection", async () => {
  const begun = signalled();
  const { port } = await listeningDoor({
    routes: [
      getRoute("/slow", async ({ signal }) => {
        begun.resolve();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return jsonReply({});
      }),
    ],
  });
  const connection = new RawConnection(port);
  connection.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await begun.promise;
  connection.send("\0\0\0\r\n\r\n");
  await connection.closed;
  expect(connection.text.match(/HTTP\/1\.1/g)?.length ?? 0).toBeLessThanOrEqual(1);
});

test("the server goes on answering others", async () => {
  const { port, url } = await listeningDoor();
  for (let i = 0; i < 50; i += 1) new RawConnection(port).send(`\0${i}\r\n\r\n`);
  expect((await fetch(`${url}/ping`)).status).toBe(200);
});
