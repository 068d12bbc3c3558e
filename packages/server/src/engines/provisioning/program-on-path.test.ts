import { readFile } from "node:fs/promises";
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

const onPath = () => join(machine.programs, "llama-server");

test("a good program on PATH is used, and not run again while it is unchanged", async () => {
  const startsFile = join(machine.folder, "path-starts");
  await writeFakeEngine(onPath(), { startsFile });
  const provisioning = createProvisioning(machine.options);
  const first = await provisioning.provide(ignore, signal);
  expect(first).toMatchObject({ path: onPath(), origin: "path" });
  const starts = await readFile(startsFile, "utf8");
  expect(await provisioning.provide(ignore, signal)).toEqual(first);
  expect(await readFile(startsFile, "utf8")).toBe(starts);

  await writeFakeEngine(onPath(), { startsFile, versionLine: "version: 12000 (abc)" });
  const second = await provisioning.provide(ignore, signal);
  expect(second.build).toBe(12000);
  expect(second.digest).not.toBe(first.digest);
});

test("a program on PATH without a needed flag is refused aloud, and the next way is taken", async () => {
  await writeFakeEngine(onPath(), { flags: NEEDED_FLAGS.filter((flag) => flag !== "--ctx-size") });
  const binary = await createProvisioning(machine.options).provide(ignore, signal);
  expect(binary.origin).toBe("source");
  const warnings = machine.logged.filter(({ level }) => level === 40).map(({ msg }) => msg);
  expect(warnings).toEqual([expect.stringContaining("does not know --ctx-size")]);
});

test("with building switched off the error tells each reason and what to do", async () => {
  await writeFakeEngine(onPath(), { answer: "nonsense" });
  const provisioning = createProvisioning({ ...machine.options, sourceBuild: false });
  const failed = provisioning.provide(ignore, signal);
  await expect(failed).rejects.toMatchObject({ code: "model_unavailable" });
  await expect(failed).rejects.toThrow(
    /computes wrongly.*switched off.*install.*engines\.llama\.path/s,
  );
  expect(await machine.starts()).toEqual([]);
});
