import { Agent, get } from "node:http";
import { expect, test } from "vitest";
import { RawConnection } from "./__fixtures__/raw-http.js";
import { getRoute, listeningDoor, signalled } from "./__fixtures__/test-door.js";
import { jsonReply, sseReply } from "./index.js";

const GET = "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n";
const ready = getRoute(
  "/ready",
  ({ draining }) => jsonReply({ draining }, { status: draining ? 503 : 200 }),
  { scope: "open", openWhileStaging: true },
);

/** A route that answers when told to. */
function held() {
  const begun = signalled();
  const go = signalled();
  const route = getRoute("/held", async () => {
    begun.resolve();
    await go.promise;
    return jsonReply({ done: true });
  });
  return { begun: begun.promise, go: go.resolve, route };
}

test("running requests end, new ones are refused, and the open routes tell", async () => {
  const { begun, go, route } = held();
  const { door, url } = await listeningDoor({ routes: [ready, route] });
  const running = fetch(`${url}/held`);
  await begun;
  const closed = door.close({ drainMs: 10_000 });
  expect(door.draining).toBe(true);

  const told = await fetch(`${url}/ready`);
  expect([told.status, await told.json()]).toEqual([503, { draining: true }]);
  const refused = await fetch(`${url}/held`);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("5");
  expect(refused.headers.get("connection")).toBe("close");
  expect((await refused.json()).error.type).toBe("model_not_available");

  go();
  expect(await (await running).json()).toEqual({ done: true });
  await closed;
  await expect(fetch(`${url}/ready`)).rejects.toThrow();
});

test("without running requests it is over at once, kept-alive connections included", async () => {
  const { door, url } = await listeningDoor();
  const agent = new Agent({ keepAlive: true });
  const { closed: socketClosed } = await new Promise<{ closed: Promise<void> }>(
    (resolve, reject) => {
      get(`${url}/ping`, { agent }, (response) => {
        const closed = new Promise<void>((done) => response.socket.once("close", () => done()));
        response.on("end", () => resolve({ closed })).resume();
      }).on("error", reject);
    },
  );
  const start = performance.now();
  await door.close({ drainMs: 30_000 });
  await socketClosed;
  expect(performance.now() - start).toBeLessThan(2_000);
  agent.destroy();
});

test("a stream over the drain time ends with the error chunk and [DONE]", async () => {
  const ended = signalled<unknown>();
  const { door, port } = await listeningDoor({
    routes: [
      getRoute("/stream", ({ signal }) =>
        sseReply(
          (async function* () {
            try {
              yield 1;
              await new Promise((_, reject) =>
                signal.addEventListener("abort", () => reject(signal.reason)),
              );
            } finally {
              ended.resolve(signal.reason);
            }
          })(),
          { onError: (error) => ({ error: error.code }) },
        ),
      ),
    ],
  });
  const connection = new RawConnection(port);
  connection.send(GET);
  await connection.until(/data: 1\n\n/);
  await door.close({ drainMs: 50 });
  await connection.closed;
  expect(connection.text).toMatch(/data: \{"error":"shutting_down"\}\n\n[\s\S]*data: \[DONE\]\n\n/);
  expect(await ended.promise).toMatchObject({ code: "shutting_down" });
});

test("an answer over the drain time is 503, also when its handler does not listen", async () => {
  const begun = signalled();
  const { door, url } = await listeningDoor({
    routes: [
      getRoute("/deaf", () => {
        begun.resolve();
        return new Promise(() => {});
      }),
    ],
  });
  const running = fetch(`${url}/deaf`);
  await begun.promise;
  const start = performance.now();
  await door.close({ drainMs: 50 });
  expect(performance.now() - start).toBeLessThan(2_050);
  const answer = await running;
  expect([answer.status, answer.headers.get("connection")]).toEqual([503, "close"]);
});

test("a client that does not read cannot hold it up", async () => {
  const { door, port } = await listeningDoor({
    routes: [
      getRoute("/stream", () =>
        sseReply(
          (async function* () {
            for (;;) yield "x".repeat(100_000);
          })(),
          { onError: (error) => error.code },
        ),
      ),
    ],
  });
  const connection = new RawConnection(port);
  connection.send(GET);
  await connection.until(/data: /);
  connection.socket.pause();
  const start = performance.now();
  await door.close({ drainMs: 50 });
  expect(performance.now() - start).toBeLessThan(2_050);
});

test("a second close waits for the first", async () => {
  const { door } = await listeningDoor();
  await Promise.all([door.close(), door.close({ drainMs: 10_000 })]);
});
