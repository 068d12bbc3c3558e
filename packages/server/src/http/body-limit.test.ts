import { expect, test } from "vitest";
import { RawConnection, REQUEST_ID_LINE } from "./__fixtures__/raw-http.js";
import { listeningDoor, testDoor } from "./__fixtures__/test-door.js";

const limits = { max_body_bytes: 1_000 };
const HEAD = "POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
const body = (bytes: number) => JSON.stringify({ text: "x".repeat(bytes - 11) });

test("a body of exactly the limit is read, one byte more is not", async () => {
  const door = await testDoor({ limits });
  const post = (bytes: number) =>
    door.inject({
      method: "POST",
      url: "/v1/echo",
      payload: body(bytes),
      headers: { "content-type": "application/json" },
    });
  expect((await post(1_000)).statusCode).toBe(200);
  const refused = await post(1_001);
  expect(refused.statusCode).toBe(413);
  expect(refused.headers["content-type"]).toMatch(/^text\/plain/);
  expect(refused.body).toContain("1000 bytes");
});

test("a length over the limit is refused before the body comes", async () => {
  const { port } = await listeningDoor({ limits });
  const connection = new RawConnection(port);
  connection.send(`${HEAD}Content-Length: 5000000\r\n\r\n`);
  expect(await connection.until(/bytes/)).toMatch(/^HTTP\/1\.1 413 /);
  expect(connection.text).toMatch(REQUEST_ID_LINE);
  expect(connection.text).toMatch(/^connection: close\r$/im);
  await connection.closed;
});

test("a chunked body is refused as soon as it is too long", async () => {
  const { port } = await listeningDoor({ limits });
  const connection = new RawConnection(port);
  connection.send(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
  for (let i = 0; i < 3; i += 1) connection.send(`1f4\r\n${"x".repeat(500)}\r\n`);
  expect(await connection.until(/bytes/)).toMatch(/^HTTP\/1\.1 413 /);
  connection.send("0\r\n\r\n");
  await connection.closed;
});

test("a client that sends everything first still gets to read the answer", async () => {
  const { url } = await listeningDoor({ limits });
  const answer = await fetch(`${url}/v1/echo`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: body(8_000_000),
  });
  expect(answer.status).toBe(413);
  expect(await answer.text()).toContain("1000 bytes");
});

test("a refusal for another reason leaves the connection usable once the body is there", async () => {
  const { port } = await listeningDoor({ limits, server: { api_keys: ["k"] } });
  const connection = new RawConnection(port);
  connection.send(`${HEAD}Content-Length: 14\r\n\r\n{"text"`);
  expect(await connection.until(/invalid_api_key"\}\}$/)).toMatch(/^HTTP\/1\.1 401 /);
  connection.send(':"abc"}');
  connection.send("GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await connection.until(/"pong":true/);
});

test("one that goes on sending for ever loses it", async () => {
  const { port } = await listeningDoor({ limits, server: { api_keys: ["k"] } });
  const connection = new RawConnection(port);
  connection.send(`${HEAD}Content-Length: 1000\r\n\r\n{"text"`);
  await connection.until(/invalid_api_key/);
  await connection.closed;
});

test("100 Continue is sent when the body is wanted, and not when it is refused", async () => {
  const { port } = await listeningDoor({ limits });
  const wanted = new RawConnection(port);
  wanted.send(`${HEAD}Expect: 100-continue\r\nContent-Length: 14\r\n\r\n`);
  await wanted.until(/^HTTP\/1\.1 100 /);
  wanted.send('{"text":"abc"}');
  expect(await wanted.until(/"abc"/)).toMatch(/HTTP\/1\.1 200 /);

  const refused = new RawConnection(port);
  refused.send(`${HEAD}Expect: 100-continue\r\nContent-Length: 5000\r\n\r\n`);
  expect(await refused.until(/bytes/)).toMatch(/^HTTP\/1\.1 413 /);
});
