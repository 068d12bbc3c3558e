import { expect, test } from "vitest";
import { RawConnection, REQUEST_ID_LINE } from "./__fixtures__/raw-http.js";
import { getRoute, listeningDoor, signalled, testDoor } from "./__fixtures__/test-door.js";
import { jsonReply, sseReply } from "./index.js";

const limits = { request_timeout_secs: 0.1 };

test("an answer that does not begin in time is 408 in plain text, and its signal fires", async () => {
  const reason = signalled<unknown>();
  const { url } = await listeningDoor({
    limits,
    routes: [
      getRoute("/slow", async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        reason.resolve(signal.reason);
        return jsonReply("too late");
      }),
    ],
  });
  const answer = await fetch(`${url}/slow`);
  expect(answer.status).toBe(408);
  expect(answer.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(answer.headers.get("x-request-id")).toMatch(/^req-/);
  expect(await answer.text()).toContain("0.1 s");
  expect(await reason.promise).toMatchObject({ code: "request_timeout" });
});

test("a handler that never ends does not matter", async () => {
  const door = await testDoor({
    limits,
    routes: [getRoute("/never", () => new Promise(() => {}))],
  });
  expect((await door.inject("/never")).statusCode).toBe(408);
});

test("a body that does not arrive in time is 408 as well", async () => {
  const { port } = await listeningDoor({ limits });
  const connection = new RawConnection(port);
  connection.send(
    'POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"text"',
  );
  await connection.until(/limits\.request_timeout_secs/);
  expect(connection.text).toMatch(/^HTTP\/1\.1 408 /);
  expect(connection.text).toMatch(REQUEST_ID_LINE);
  await connection.closed;
});

test("a stream whose head is out may take longer", async () => {
  const door = await testDoor({
    limits,
    routes: [
      getRoute("/stream", ({ signal }) =>
        sseReply(
          (async function* () {
            yield 1;
            await new Promise((resolve) => setTimeout(resolve, 300));
            yield signal.aborted;
          })(),
          { onError: (error) => error.message },
        ),
      ),
    ],
  });
  expect((await door.inject("/stream")).body).toBe("data: 1\n\ndata: false\n\ndata: [DONE]\n\n");
});

test("a stream without a head is 408, and its producer is ended", async () => {
  const ended = signalled();
  const door = await testDoor({
    limits,
    routes: [
      getRoute("/stream", ({ signal }) =>
        sseReply(
          (async function* () {
            try {
              await new Promise((_, reject) =>
                signal.addEventListener("abort", () => reject(signal.reason)),
              );
              yield 1;
            } finally {
              ended.resolve();
            }
          })(),
          { onError: (error) => error.message },
        ),
      ),
    ],
  });
  expect((await door.inject("/stream")).statusCode).toBe(408);
  await ended.promise;
});

test("a limit beyond the longest timer is not an immediate one", async () => {
  const door = await testDoor({ limits: { request_timeout_secs: 10_000_000 } });
  expect((await door.inject("/ping")).statusCode).toBe(200);
});
