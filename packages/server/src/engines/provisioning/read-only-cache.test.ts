import { chmod, mkdir } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { provideElsewhere } from "./__fixtures__/elsewhere.js";
import { type FakeMachine, makeFakeMachine } from "./__fixtures__/fake-machine.js";
import { addRelease } from "./__fixtures__/fake-release.js";
import { createProvisioning } from "./index.js";

let machine: FakeMachine;
const signal = new AbortController().signal;
/** Anybody but root: root may write everywhere. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const user = isRoot ? NOBODY : undefined;

beforeEach(async () => {
  machine = await makeFakeMachine();
  await chmod(machine.folder, 0o755);
});

afterEach(async () => {
  await chmod(machine.cacheDir, 0o755).catch(() => {});
  await chmod(machine.root, 0o755).catch(() => {});
  await machine.remove();
});

test("a cache that cannot be written is told by its folder, and how to go on", async () => {
  await addRelease(machine, [{ accelerator: "cpu" }]);
  await mkdir(machine.cacheDir);
  await chmod(machine.cacheDir, 0o555);
  const other = provideElsewhere(machine, user);
  await other.ended;
  const error = other.said.at(-1)?.error ?? "";
  expect(error).toContain(`The engine's folder ${machine.root} cannot be written`);
  expect(error).toContain("engines.llama.path");
}, 60_000);

test("a build in a cache that cannot be written is used all the same", async () => {
  await addRelease(machine, [{ accelerator: "cpu" }]);
  const binary = await createProvisioning(machine.options).provide(() => undefined, signal);
  await chmod(machine.root, 0o555);
  const other = provideElsewhere(machine, user);
  await other.ended;
  expect(other.said.at(-1)).toEqual({ path: binary.path });
}, 60_000);
