import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { listeningDoor, testDoor } from "./__fixtures__/test-door.js";
import { ListenError } from "./index.js";
import { listeningInodes } from "./port-owner.js";

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

test("the table of sockets is read by port and state", () => {
  const table = [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
    "   0: 0100007F:270F 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1 0 100 0 0 10 0",
    "   1: 0100007F:270F 0100007F:8000 01 00000000:00000000 00:00000000 00000000  1000        0 222 1 0 100 0 0 10 0",
    "   2: 0100007F:1770 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 333 1 0 100 0 0 10 0",
  ].join("\n");
  expect(listeningInodes(table, 9999)).toEqual(["111"]);
});
