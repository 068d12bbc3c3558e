import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NEEDED_FLAGS } from "../llama/index.js";
import { writeFakeEngine } from "./__fixtures__/fake-engine.js";
import { type FakeMachine, makeFakeMachine } from "./__fixtures__/fake-machine.js";
import { createProvisioning } from "./index.js";

let machine: FakeMachine;
const signal = new AbortController().signal;
const ignore = () => undefined;

beforeEach(async () => {
  machine = await makeFakeMachine();
});

afterEach(() => machine.remove());

test("the configured program goes before the one on PATH", async () => {
  const configuredPath = join(machine.folder, "mine");
  await writeFakeEngine(configuredPath, { versionLine: "version: 12000 (abc)" });
  await writeFakeEngine(join(machine.programs, "llama-server"));
  const binary = await createProvisioning({ ...machine.options, configuredPath }).provide(
    ignore,
    signal,
  );
  expect(binary).toMatchObject({ path: configuredPath, build: 12000, origin: "configured" });
  expect(binary.digest).toMatch(/^[0-9a-f]{64}$/);
});

test("a wrong configured path is an error that names the setting; nothing else is used", async () => {
  await writeFakeEngine(join(machine.programs, "llama-server"));
  const provide = (configuredPath: string) =>
    createProvisioning({ ...machine.options, configuredPath }).provide(ignore, signal);
  const missing = join(machine.folder, "none");
  await expect(provide(missing)).rejects.toMatchObject({
    code: "model_unavailable",
    param: "engines.llama.path",
    message: expect.stringContaining("there is no executable file"),
  });
  const old = join(machine.folder, "old");
  await writeFakeEngine(old, { flags: NEEDED_FLAGS.filter((flag) => flag !== "--ctx-size") });
  await expect(provide(old)).rejects.toThrow(/engines\.llama\.path.*does not know --ctx-size/);
  await rm(old);
  expect(await machine.starts()).toEqual([]);
});
