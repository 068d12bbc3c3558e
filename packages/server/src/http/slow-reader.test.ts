import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { RawConnection } from "./__fixtures__/raw-http.js";
import { getRoute, listeningDoor, signalled } from "./__fixtures__/test-door.js";
import { sseReply } from "./index.js";

const GET = "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n";
const ITEM = "x".repeat(100_000);

/** An endless stream; `produced` counts its items. */
function endless() {
  const ended = signalled();
  const state = { produced: 0, ended: ended.promise };
  const route = getRoute("/stream", () =>
    sseReply(
      (async function* () {
        try {
          for (;;) {
            state.produced += 1;
            yield ITEM;
          }
        } finally {
          ended.resolve();
        }
      })(),
      { onError: (error) => error.message },
    ),
  );
  return { state, route };
}

/** Waits until the count stands still: the buffers are full. */
async function settled(count: () => number): Promise<number> {
  for (let last = -1; ; ) {
    const now = count();
    if (now === last && now > 0) return now;
    last = now;
    await sleep(150);
  }
}

test("a client that does not read holds the producer, and one that reads on lets it go on", async () => {
  const { state, route } = endless();
  const { port } = await listeningDoor({ routes: [route] });
  const connection = new RawConnection(port);
  connection.socket.pause();
  connection.send(GET);
  const held = await settled(() => state.produced);
  expect(held * ITEM.length).toBeLessThan(50_000_000);

  connection.socket.resume();
  while (state.produced <= held + 10) await sleep(10);
  connection.socket.destroy();
  await state.ended;
});

test("a client that goes on not reading is taken as gone", async () => {
  const { state, route } = endless();
  const { port } = await listeningDoor({ routes: [route], streams: { stall: 100 } });
  const connection = new RawConnection(port);
  connection.socket.pause();
  connection.send(GET);
  await state.ended;
});

test("other requests are answered meanwhile", async () => {
  const { state, route } = endless();
  const { port, url } = await listeningDoor({
    routes: [
      route,
      getRoute("/ping", () => ({
        kind: "whole",
        status: 200,
        headers: undefined,
        contentType: "text/plain",
        body: "pong",
      })),
    ],
  });
  const connection = new RawConnection(port);
  connection.socket.pause();
  connection.send(GET);
  await settled(() => state.produced);
  expect(await (await fetch(`${url}/ping`)).text()).toBe("pong");
});
