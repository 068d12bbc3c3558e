import { expect, test } from "vitest";
import { RawConnection } from "./__fixtures__/raw-http.js";
import {
  getRoute,
  listeningDoor,
  recordedLog,
  signalled,
  testDoor,
} from "./__fixtures__/test-door.js";
import { SomnusError, sseReply } from "./index.js";

type Events = (signal: AbortSignal) => AsyncIterable<unknown>;

const stream = (events: Events, headers?: () => Record<string, string>) =>
  getRoute("/stream", ({ signal }) =>
    sseReply(events(signal), {
      onError: (error) => ({
        finish_reason: "error",
        error: { message: error.message, type: error.kind.type },
      }),
      ...(headers ? { headers } : {}),
    }),
  );
/** Events of which the first is a failure. */
const failing = (next: () => Promise<never>): AsyncIterable<unknown> => ({
  [Symbol.asyncIterator]: () => ({ next }),
});

const GET = "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n";
const FAST = { head: 30, comment: 30 };

test("each item is one event, then [DONE]; nothing is compressed or buffered on the way", async () => {
  const door = await testDoor({
    routes: [
      stream(
        async function* () {
          yield { a: "line\nbreak" };
          yield { b: 2 };
        },
        () => ({ "x-late": "yes" }),
      ),
    ],
  });
  const { statusCode, headers, body } = await door.inject({
    url: "/stream",
    headers: { "accept-encoding": "gzip" },
  });
  expect(statusCode).toBe(200);
  expect(headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
    "x-late": "yes",
    "x-request-id": expect.stringMatching(/^req-/),
  });
  expect(headers["content-encoding"]).toBeUndefined();
  expect(body).toBe('data: {"a":"line\\nbreak"}\n\ndata: {"b":2}\n\ndata: [DONE]\n\n');
});

test("a failure before the first item is an ordinary error", async () => {
  const door = await testDoor({
    routes: [
      stream(() =>
        failing(async () => {
          throw new SomnusError("model_busy", "Too many.");
        }),
      ),
    ],
  });
  const answer = await door.inject("/stream");
  expect([answer.statusCode, answer.json().error.type]).toEqual([429, "model_busy"]);
});

test("a failure after it is the error chunk, then [DONE], and it is logged with the request id", async () => {
  const { log, lines } = recordedLog();
  const door = await testDoor({
    log,
    routes: [
      stream(async function* () {
        yield 1;
        throw new Error("secret stack");
      }),
    ],
  });
  const { statusCode, body, headers } = await door.inject("/stream");
  expect(statusCode).toBe(200);
  const events = body.trimEnd().split("\n\n");
  expect(events[0]).toBe("data: 1");
  expect(JSON.parse(events[1]?.slice(6) ?? "")).toEqual({
    finish_reason: "error",
    error: { message: expect.any(String), type: "server_error" },
  });
  expect(events[2]).toBe("data: [DONE]");
  expect(body).not.toContain("secret");
  expect(lines[0]).toMatchObject({ request_id: headers["x-request-id"], code: "internal" });
  expect(JSON.stringify(lines[0])).toContain("secret stack");
});

test("an item that cannot be serialized is a failure, and the producer is told to end", async () => {
  const ended = signalled();
  const door = await testDoor({
    routes: [
      stream(async function* () {
        try {
          yield 1;
          yield 1n;
        } finally {
          ended.resolve();
        }
      }),
    ],
  });
  expect((await door.inject("/stream")).body).toMatch(
    /^data: 1\n\ndata: .*server_error.*\n\ndata: \[DONE\]\n\n$/,
  );
  await ended.promise;
});

test("a stream without items is only [DONE]", async () => {
  const door = await testDoor({ routes: [stream(async function* () {})] });
  expect((await door.inject("/stream")).body).toBe("data: [DONE]\n\n");
});

test("without an item the head goes out after a while, comments keep it alive, and a failure is a chunk", async () => {
  const fail = signalled();
  const { port } = await listeningDoor({
    streams: FAST,
    routes: [
      stream(() =>
        failing(async () => {
          await fail.promise;
          throw new SomnusError("engine_failed", "It broke.");
        }),
      ),
    ],
  });
  const connection = new RawConnection(port);
  connection.send(GET);
  await connection.until(/(: keep-alive\n\n[^:]*){3}/);
  expect(connection.text).toMatch(/^HTTP\/1\.1 200 OK/);
  fail.resolve();
  await connection.until(/data: \[DONE\]\n\n/);
  expect(connection.text).toMatch(/data: .*"It broke\.".*\n\n/);
});

test("silence between items is filled with comments, items are not interrupted by them", async () => {
  const go = signalled();
  const { port } = await listeningDoor({
    streams: FAST,
    routes: [
      stream(async function* () {
        yield 1;
        await go.promise;
        yield 2;
      }),
    ],
  });
  const connection = new RawConnection(port);
  connection.send(GET);
  await connection.until(/data: 1\n\n[\s\S]*: keep-alive\n\n[\s\S]*: keep-alive\n\n/);
  go.resolve();
  await connection.until(/data: 2\n\n[\s\S]*data: \[DONE\]\n\n/);
});

test.each(["before", "after"])(
  "a client that leaves %s the first item fires the signal and ends the producer",
  async (when) => {
    const begun = signalled();
    const ended = signalled<unknown>();
    const { port } = await listeningDoor({
      routes: [
        stream(async function* (signal) {
          try {
            if (when === "after") yield 1;
            begun.resolve();
            await new Promise((_, reject) =>
              signal.addEventListener("abort", () => reject(signal.reason)),
            );
          } finally {
            ended.resolve(signal.reason);
          }
        }),
      ],
    });
    const connection = new RawConnection(port);
    connection.send(GET);
    await begun.promise;
    connection.socket.destroy();
    expect(await ended.promise).toMatchObject({ code: "cancelled" });
  },
);

test("a producer that does not listen to the signal is ended by return()", async () => {
  const begun = signalled();
  const returned = signalled();
  const events: AsyncIterable<unknown> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        begun.resolve();
        return new Promise(() => {});
      },
      return: async () => {
        returned.resolve();
        return { done: true, value: undefined };
      },
    }),
  };
  const { port } = await listeningDoor({ routes: [stream(() => events)] });
  const connection = new RawConnection(port);
  connection.send(GET);
  await begun.promise;
  connection.socket.destroy();
  await returned.promise;
});
