import { expect, test } from "vitest";
import { runCli, startCli } from "../__fixtures__/cli.js";
import { openFakeDoor } from "../__fixtures__/fake-door.js";

const staging = {
  ready: false,
  reason: "staging",
  phase: "fetching tiny",
  percent: 40,
  eta_secs: 9,
};

test("a question waits until the server is ready", async () => {
  const door = await openFakeDoor();
  door.ready = [staging, { ready: true }];
  const { code, out } = await runCli(["run", "tiny:1b", "Hi", "--url", door.url]);
  expect({ code, out }).toEqual({ code: 0, out: "Hello there.\n" });
  expect(door.asked.filter(({ path }) => path === "/ready")).toHaveLength(2);
});

test("a terminal shows how far the server is, and Ctrl-C leaves it alone", async () => {
  const door = await openFakeDoor();
  door.ready = [staging];
  const run = await startCli(["run", "tiny:1b", "Hi", "--url", door.url], { terminal: 100 });
  await run.err.shows("fetching tiny");
  await run.err.shows("40%");
  await run.err.shows("9.0 s left");
  run.signal("SIGINT");
  expect(await run.ended).toBe(130);
  expect(run.err.text).toContain("it goes on getting ready");
});

test("a server that cannot get ready says what to do", async () => {
  const door = await openFakeDoor();
  door.ready = [{ ready: false, reason: "No compiler.", failed: true, hint: "Install one." }];
  const { code, err } = await runCli(["run", "tiny:1b", "Hi", "--url", door.url]);
  expect(code).toBe(1);
  expect(err).toBe("somnus: The server could not get ready: No compiler.\n  Install one.\n");
});

test("a server that is shutting down is told", async () => {
  const door = await openFakeDoor();
  door.ready = [{ ready: false, reason: "shutting down" }];
  const { code, err } = await runCli(["run", "tiny:1b", "Hi", "--url", door.url]);
  expect(code).toBe(1);
  expect(err).toContain("shutting down");
});
