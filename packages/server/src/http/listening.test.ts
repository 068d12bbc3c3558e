import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { listeningDoor, testDoor } from "./__fixtures__/test-door.js";
import { ListenError } from "./index.js";
import { listeningInodes } from "./port-owner.js";

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === "::1"),
);

test("localhost is both loopback addresses, on one port", async () => {
  const door = await testDoor({ server: { host: "localhost" } });
  const { urls } = await door.listen();
  const port = new URL(urls[0] ?? "").port;
  expect(urls).toEqual([`http://127.0.0.1:${port}`, ...(hasIpv6 ? [`http://[::1]:${port}`] : [])]);
  for (const url of urls) expect((await fetch(`${url}/ping`)).status).toBe(200);
});

test("a list of hosts is listened on as given, each once", async () => {
  const door = await testDoor({ server: { host: ["127.0.0.1", "127.0.0.2", "127.0.0.1"] } });
  const { urls } = await door.listen();
  expect(urls.map((url) => new URL(url).hostname)).toEqual(["127.0.0.1", "127.0.0.2"]);
});

test("a port in use by a Somnus: which version, which process, and what to do", async () => {
  const { port } = await listeningDoor({
    routes: [
      {
        method: "GET",
        path: "/",
        summary: "Root.",
        tags: [],
        replies: {},
        scope: "open",
        openWhileStaging: true,
        handler: () => ({
          kind: "whole",
          status: 200,
          headers: undefined,
          contentType: "application/json",
          body: '{"name":"somnus","version":"9.8.7"}',
        }),
      },
    ],
  });
  const second = await testDoor({ server: { port } });
  const error = await second.listen().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ListenError);
  expect(error).toMatchObject({
    code: "EADDRINUSE",
    message: expect.stringMatching(/already used by Somnus 9\.8\.7.*--port/),
  });
  if (process.platform === "linux")
    expect((error as Error).message).toContain(`process ${process.pid}`);
});

test("a port in use by a program that does not answer is found out as well", async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    silent.close();
  });
  const { port } = silent.address() as { port: number };
  const door = await testDoor({ server: { port } });
  await expect(door.listen()).rejects.toMatchObject({
    code: "EADDRINUSE",
    message: expect.stringContaining(`Port ${port} on 127.0.0.1 is already used by`),
  });
});

test("when one of two hosts fails, none stays open", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.2", resolve));
  onTestFinished(() => {
    taken.close();
  });
  const { port } = taken.address() as { port: number };
  const door = await testDoor({ server: { host: ["127.0.0.1", "127.0.0.2"], port } });
  await expect(door.listen()).rejects.toThrow(ListenError);
  await expect(fetch(`http://127.0.0.1:${port}/ping`)).rejects.toThrow();
});

test("an address that this machine does not have is said so", async () => {
  const door = await testDoor({ server: { host: "192.0.2.1", allow_unauthenticated: true } });
  await expect(door.listen()).rejects.toMatchObject({
    code: "EADDRNOTAVAIL",
    message: expect.stringContaining("192.0.2.1"),
  });
});

test.each(["0.0.0.0", "::", "192.168.1.5", "example.org"])(
  "%s without keys is refused",
  async (host) => {
    const door = await testDoor({ server: { host } });
    await expect(door.listen()).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
      message: expect.stringContaining("server.allow_unauthenticated"),
    });
  },
);

test.each([{ api_keys: ["k"] }, { allow_unauthenticated: true }])(
  "0.0.0.0 is listened on with %o",
  async (server) => {
    const door = await testDoor({ server: { host: "0.0.0.0", ...server } });
    expect((await door.listen()).urls).toHaveLength(1);
  },
);

test("the table of sockets is read by port and state", () => {
  const table = [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
    "   0: 0100007F:270F 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1 0 100 0 0 10 0",
    "   1: 0100007F:270F 0100007F:8000 01 00000000:00000000 00:00000000 00000000  1000        0 222 1 0 100 0 0 10 0",
    "   2: 0100007F:1770 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 333 1 0 100 0 0 10 0",
  ].join("\n");
  expect(listeningInodes(table, 9999)).toEqual(["111"]);
});
