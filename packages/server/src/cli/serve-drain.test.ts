import { beforeEach, expect, test, vi } from "vitest";
import { startCli } from "./__fixtures__/cli.js";

/** A server whose end the test decides. */
const fake = vi.hoisted(() => ({
  active: 0,
  close: (): Promise<void> => Promise.resolve(),
}));
vi.mock("../main.js", () => ({
  startServer: async () => ({
    urls: ["http://127.0.0.1:1"],
    ready: Promise.resolve(),
    startup: () => null,
    activeRequests: () => fake.active,
    close: () => fake.close(),
  }),
}));

beforeEach(() => {
  fake.active = 0;
  fake.close = () => Promise.resolve();
});

async function serving() {
  const run = await startCli(["serve", "--log-level", "silent"]);
  await run.out.shows("serves on");
  return run;
}

test("the first signal says what is still running", async () => {
  fake.active = 2;
  const run = await serving();
  run.signal("SIGINT");
  expect(await run.ended).toBe(0);
  expect(run.out.text).toContain("Finishing 2 requests, Ctrl-C again to stop now.");
  expect(run.exits).toEqual([]);
});

test("the second signal ends at once", async () => {
  fake.active = 1;
  fake.close = () => new Promise(() => {});
  const run = await serving();
  run.signal("SIGINT");
  await run.out.shows("Finishing 1 request,");
  run.signal("SIGINT");
  expect(await run.ended).toBe(130);
  expect(run.exits).toEqual([130]);
});

test("a closed terminal, which sends two signals at once, still drains", async () => {
  let finish = () => {};
  fake.close = () =>
    new Promise((resolve) => {
      finish = resolve;
    });
  const run = await serving();
  run.signal("SIGHUP");
  run.signal("SIGTERM");
  await run.out.shows("Stopping.");
  finish();
  expect(await run.ended).toBe(0);
});

test("an end that fails is a failure", async () => {
  fake.close = () => Promise.reject(new Error("an engine does not end"));
  const run = await serving();
  run.signal("SIGTERM");
  expect(await run.ended).toBe(1);
  expect(run.err.text).toContain("an engine does not end");
});
