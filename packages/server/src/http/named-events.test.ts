import { expect, test } from "vitest";
import { RawConnection } from "./__fixtures__/raw-http.js";
import { getRoute, listeningDoor, signalled, testDoor } from "./__fixtures__/test-door.js";
import { namedEvents, SomnusError, sseReply } from "./index.js";

const stream = (events: () => AsyncIterable<unknown>) =>
  getRoute("/stream", () =>
    sseReply(events(), {
      framing: namedEvents(() => ({ type: "ping" })),
      onError: ({ message }) => ({ type: "error", message }),
    }),
  );

test("each item is an event of its type, and nothing follows the last", async () => {
  const door = await testDoor({
    routes: [
      stream(async function* () {
        yield { type: "begin", text: "line\nbreak" };
        yield { type: "end" };
      }),
    ],
  });
  expect((await door.inject("/stream")).body).toBe(
    'event: begin\ndata: {"type":"begin","text":"line\\nbreak"}\n\nevent: end\ndata: {"type":"end"}\n\n',
  );
});

test("silence is filled with events, and a failure is the last of them", async () => {
  const fail = signalled();
  const { port } = await listeningDoor({
    streams: { head: 30, comment: 30 },
    routes: [
      stream(async function* () {
        yield { type: "begin" };
        await fail.promise;
        throw new SomnusError("engine_failed", "It broke.");
      }),
    ],
  });
  const connection = new RawConnection(port);
  connection.send("GET /stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  await connection.until(/(event: ping\ndata: \{"type":"ping"\}\n\n[^e]*){2}/);
  fail.resolve();
  await connection.closed;
  expect(connection.text).toMatch(
    /event: error\ndata: \{"type":"error","message":"It broke\."\}\n\n\r\n0\r\n\r\n$/,
  );
});
