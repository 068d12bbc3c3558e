import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { testDoor } from "./__fixtures__/test-door.js";
import { ListenError } from "./index.js";

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
