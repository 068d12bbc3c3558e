import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { runCli, startCli } from "./__fixtures__/cli.js";

/** A server that cannot get an engine: it fails at once and stays up. */
const NO_ENGINE = [
  ...["serve", "--port", "0", "--host", "127.0.0.1", "--no-preload"],
  ...["--set", "engines.llama.source_build=false", "--set", "engines.llama.release_build=false"],
  ...["--log-level", "silent"],
];
const ENV = { PATH: "" };

test("it says where it serves, tells a failed step and ends cleanly", async () => {
  const run = await startCli(NO_ENGINE, { env: ENV });
  await run.out.shows("serves on http://127.0.0.1:");
  await run.out.shows("The server stays up");
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(run.out.text)![0];
  const ready = await fetch(`${url}/ready`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ ready: false, failed: true });
  expect(run.signal("SIGTERM")).toBe(true);
  expect(await run.ended).toBe(0);
  expect(run.out.text).toContain("Stopped.");
  expect(run.listens("SIGTERM")).toBe(false);
  await expect(fetch(`${url}/health`)).rejects.toThrow();
});

test("a port in use is told in one line", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const argv = [...NO_ENGINE, "--port", `${port}`];
  const { code, err } = await runCli(argv, { env: ENV });
  expect(code).toBe(1);
  expect(err).toContain(`${port}`);
  expect(err).not.toContain("    at ");
});

test("a wrong setting is told by the flag that made it", async () => {
  const { code, err } = await runCli(["serve", "--port", "eighty"], { env: ENV });
  expect(code).toBe(1);
  expect(err).toContain("--port");
});

test("its log is JSON where there is no terminal", async () => {
  const argv = [...NO_ENGINE.slice(0, -2), "--log-level", "error"];
  const run = await startCli(argv, { env: ENV });
  await run.out.shows("The server stays up");
  run.signal("SIGINT");
  expect(await run.ended).toBe(0);
  const lines = run.err.text.trimEnd().split("\n");
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: 50 });
  expect(lines.length).toBeGreaterThan(0);
});
