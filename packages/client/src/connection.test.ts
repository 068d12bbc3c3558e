import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { collect, frames, HELLO, textChunk } from "./__fixtures__/answers.js";
import { SomnusClient } from "./index.js";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<SomnusClient> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return new SomnusClient({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
}

/** A door that sends one chunk and then nothing; `gone` settles when its client has left. */
function endless() {
  let left: () => void;
  const gone = new Promise<void>((resolve) => {
    left = resolve;
  });
  const listener: RequestListener = (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(frames(textChunk("a")));
    response.on("close", () => left());
  };
  return { gone, listener };
}

test("leaving the loop closes the connection", async () => {
  const { gone, listener } = endless();
  const client = await serve(listener);
  for await (const chunk of client.chatStream(HELLO)) {
    expect(chunk).toEqual(textChunk("a"));
    break;
  }
  await gone;
});

test("an abort in mid-stream throws the signal's reason and closes the connection", async () => {
  const { gone, listener } = endless();
  const client = await serve(listener);
  const abort = new AbortController();
  const why = new Error("enough");
  const reading = (async () => {
    for await (const _ of client.chatStream(HELLO, { signal: abort.signal })) abort.abort(why);
  })();
  await expect(reading).rejects.toBe(why);
  await gone;
});

test("a signal that fired before makes no call", async () => {
  let calls = 0;
  const client = await serve((_request, response) => {
    calls++;
    response.end("{}");
  });
  const why = new Error("not even begun");
  await expect(client.health({ signal: AbortSignal.abort(why) })).rejects.toBe(why);
  expect(calls).toBe(0);
});

test("a connection that breaks in mid-stream is told", async () => {
  const client = await serve((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(frames(textChunk("a")), () => response.destroy());
  });
  await expect(collect(client.chatStream(HELLO))).rejects.toMatchObject({
    type: "connection_lost",
  });
});

test("a server that is not there is told", async () => {
  const client = await serve(() => {});
  const [server] = servers.splice(0);
  await new Promise((resolve) => server!.close(resolve));
  await expect(client.health()).rejects.toMatchObject({
    status: null,
    type: "connection_failed",
    message: expect.stringContaining("ECONNREFUSED"),
  });
});

test("the connection of a finished stream serves further calls", async () => {
  const sockets = new Set<unknown>();
  const body = frames(textChunk("a"), "[DONE]");
  const client = await serve((request, response) => {
    sockets.add(request.socket);
    response.writeHead(200, { "content-type": "text/event-stream", "content-length": body.length });
    response.end(body);
  });
  const calls = 10;
  for (let i = 0; i < calls; i++) await collect(client.chatStream(HELLO));
  // The end of a response may arrive after the next call was made, but not each time.
  expect(sockets.size).toBeLessThan(calls);
});
