import { hostname } from "node:os";
import { expect, test } from "vitest";
import { testDoor } from "./__fixtures__/test-door.js";

const server = {
  allowed_hosts: ["ai.example.org"],
  allowed_origins: ["https://app.example.org", "http://dev.example.org:*"],
};

test.each([
  "localhost",
  "LOCALHOST:9999",
  "localhost.",
  "a.localhost:1",
  "127.0.0.1:9999",
  "[::1]:9999",
  "192.168.7.7",
  "[fe80::1]:80",
  hostname(),
  "ai.example.org:443",
])("answers to %s", async (host) => {
  const door = await testDoor({ server });
  expect((await door.inject({ url: "/ping", headers: { host } })).statusCode).toBe(200);
});

test.each([
  ["evil.example", 403],
  ["localhost.evil.example", 403],
  ["127.0.0.1.evil.example:9999", 403],
  ["xai.example.org", 403],
  ["a b", 400],
  ["[::1", 400],
  ["user@localhost", 400],
])("does not answer to %s", async (host, status) => {
  const door = await testDoor({ server });
  const answer = await door.inject({ url: "/ping", headers: { host } });
  expect(answer.statusCode).toBe(status);
  if (status === 403)
    expect(answer.json().error).toMatchObject({
      type: "permission_denied",
      code: "permission_denied",
      param: null,
    });
});

test("says the same the second time", async () => {
  const door = await testDoor({ server });
  for (let i = 0; i < 2; i += 1)
    expect(
      (await door.inject({ url: "/ping", headers: { host: "evil.example" } })).statusCode,
    ).toBe(403);
});

const write = (origin: string, host = "localhost:9999") =>
  ({ method: "POST", url: "/v1/echo", payload: { text: "a" }, headers: { origin, host } }) as const;

test.each([
  ["http://localhost:3000", "localhost:9999"],
  ["https://127.0.0.1", "localhost:9999"],
  ["http://[::1]:5173", "localhost:9999"],
  ["https://app.example.org", "localhost:9999"],
  ["https://app.example.org:443", "localhost:9999"],
  ["http://dev.example.org:8081", "localhost:9999"],
  ["https://ai.example.org", "ai.example.org"],
])("pages of %s may write", async (origin, host) => {
  const door = await testDoor({ server });
  expect((await door.inject(write(origin, host))).statusCode).toBe(200);
});

test.each([
  "https://evil.example",
  "null",
  "http://app.example.org",
  "https://dev.example.org:8081",
  "http://localhost.evil.example",
  "https://app.example.org.evil.example",
  "chrome-extension://abcdef",
])("pages of %s may not", async (origin) => {
  const door = await testDoor({ server });
  expect((await door.inject(write(origin))).statusCode).toBe(403);
});

test("foreign pages may ask for what the browser will not show them", async () => {
  const door = await testDoor({ server });
  const answer = await door.inject({ url: "/ping", headers: { origin: "https://evil.example" } });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
});
