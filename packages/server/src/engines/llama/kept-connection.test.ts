import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { EngineClient, readJson } from "./client.js";
import { readStream } from "./read-stream.js";

const patience = new AbortController().signal;
const FINISH = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';

let server: Server;
let client: EngineClient;
let connections: Socket[];
/** What the engine does with each request, in turn; the last one with all that follow. */
let deeds: ((request: IncomingMessage, response: ServerResponse) => void)[];
let asked: number;

const answer = (_: IncomingMessage, response: ServerResponse) => response.end('{"well":true}');
const hangUp = ({ socket }: IncomingMessage) => socket.destroy();
const ask = () => client.post("/", {}, patience);
/** undici gives a connection out again in the turn after its answer. */
const turn = () => setImmediate();

beforeEach(async () => {
  connections = [];
  deeds = [answer];
  asked = 0;
  server = createServer((request, response) => {
    request.resume().on("end", () => {
      deeds[Math.min(asked++, deeds.length - 1)]!(request, response);
    });
  });
  server.on("connection", (socket) => connections.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  client = new EngineClient({ origin: `http://127.0.0.1:${port}`, apiKey: "k" });
});
afterEach(async () => {
  await client.destroy();
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

it("serves one request after the other on one connection", async () => {
  await ask();
  await turn();
  await ask();
  await turn();
  await client.get("/", patience);
  expect(connections).toHaveLength(1);
});

it("serves requests at the same time on connections of their own", async () => {
  await Promise.all([ask(), ask(), ask()]);
  expect(connections).toHaveLength(3);
});

it("serves again after a stream that was read to its last event", async () => {
  deeds = [(_, response) => response.end(`${FINISH}data: [DONE]\n\n`), answer];
  const { bytes } = await client.open("/", {}, patience);
  for await (const event of readStream(bytes, { choice: 0 })) expect(event).toBeDefined();
  await turn();
  await ask();
  expect(connections).toHaveLength(1);
});

it("is cut with its request, and the next one has another", async () => {
  deeds = [(_, response) => response.write("one"), answer];
  const control = new AbortController();
  const { bytes } = await client.open("/", {}, control.signal);
  await bytes.next();
  const closed = once(connections[0]!, "close");
  const reason = new Error("the client left");
  control.abort(reason);
  await expect(bytes.next()).rejects.toBe(reason);
  await closed;
  expect(await ask()).toMatchObject({ status: 200 });
  expect(connections).toHaveLength(2);
});

it("is no trouble when the engine closes it just as it is used", async () => {
  deeds = [answer, hangUp, answer];
  await ask();
  await turn();
  expect(await ask()).toEqual({ status: 200, body: { well: true } });
  expect(asked).toBe(3);
  expect(connections).toHaveLength(2);
});

it("is no trouble when several are closed at once", async () => {
  await Promise.all([ask(), ask(), ask()]);
  await turn();
  const closed = connections.map((socket) => once(socket, "close"));
  for (const socket of connections) socket.destroy();
  const answers = await Promise.all([ask(), ask(), ask()]);
  await Promise.all(closed);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});

it("tells a request that an engine closes twice", async () => {
  deeds = [hangUp];
  await expect(ask()).rejects.toThrow();
  expect(asked).toBe(2);
});

it("asks nothing again once the answer has begun", async () => {
  const breakOff = (request: IncomingMessage, response: ServerResponse) => {
    response.write('{"half', () => hangUp(request));
  };
  deeds = [answer, breakOff];
  await ask();
  await turn();
  const begun = await client.open("/", {}, patience);
  await expect(readJson(begun)).rejects.toThrow();
  expect(asked).toBe(2);
});
