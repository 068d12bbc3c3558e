import { homedir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createArtifacts } from "../../artifacts/index.js";
import { createProvisioning } from "./index.js";

/** A build from nothing takes minutes; every later run finds it in the user's cache. */
const BUILD_MS = 45 * 60_000;

test("the pinned llama.cpp is provided, and a second time without running it", {
  timeout: BUILD_MS,
}, async () => {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  const provisioning = createProvisioning({
    cacheDir: join(cache, "somnus", "engines"),
    sourceBuild: true,
    env: process.env,
    artifacts: createArtifacts(),
    log: pino({ level: "silent" }),
  });
  const signal = new AbortController().signal;
  const first = await provisioning.provide(() => undefined, signal);
  expect(first.version).toMatch(/^llama\.cpp /);
  expect(first.digest).toMatch(/^[0-9a-f]{64}$/);
  expect(await provisioning.provide(() => undefined, signal)).toEqual(first);
  expect(await provisioning.installed()).toContainEqual(first);
});
