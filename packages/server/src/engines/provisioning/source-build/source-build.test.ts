import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Progress } from "../../../observe/index.js";
import { type FakeMachine, makeFakeMachine } from "../__fixtures__/fake-machine.js";
import { createProvisioning } from "../index.js";

let machine: FakeMachine;
const signal = new AbortController().signal;
const ignore = () => undefined;

beforeEach(async () => {
  machine = await makeFakeMachine();
});

afterEach(() => machine.remove());

test("a build ends in its own folder with receipt and log, and leaves nothing else", async () => {
  const seen: Progress[] = [];
  const provisioning = createProvisioning(machine.options);
  const binary = await provisioning.provide((progress) => seen.push(progress), signal);

  expect(binary).toMatchObject({ version: "llama.cpp 11434", build: 11434, origin: "source" });
  expect(Date.parse(binary.builtAt ?? "")).toBeGreaterThan(0);
  const folder = dirname(binary.path);
  expect(basename(folder)).toMatch(
    new RegExp(`^11434-${process.platform}-${process.arch}-[0-9a-f]{12}$`),
  );
  expect((await readdir(folder)).sort()).toEqual(["build.log", "llama-server", "receipt.json"]);
  expect((await readdir(machine.root)).sort()).toEqual(
    [basename(folder), "history.json", "logs"].sort(),
  );
  expect(await readdir(join(machine.root, "logs"))).toEqual([]);
  expect(await readFile(join(folder, "build.log"), "utf8")).toContain("[4/4] Linking");
  expect(seen).toContainEqual({ step: "building llama.cpp", done: 3, total: 4, unit: "steps" });
  expect(await provisioning.installed()).toEqual([binary]);
});

test("the tools get the catalog's flags and target, and only the named folder is unpacked", async () => {
  await createProvisioning(machine.options).provide(ignore, signal);
  const [cmake, ninja] = await machine.starts();
  expect(cmake).toContain("-DCMAKE_BUILD_TYPE=Release");
  expect(cmake?.[cmake.indexOf("-G") + 1]).toBe("Ninja");
  expect(ninja?.at(-1)).toBe("llama-server");
  expect(Number(ninja?.[ninja.indexOf("-j") + 1])).toBeGreaterThan(0);
});

test("a finished build is used again without running or building anything", async () => {
  const provisioning = createProvisioning(machine.options);
  const first = await provisioning.provide(ignore, signal);
  const engineStarts = await readFile(join(machine.folder, "engine-starts"), "utf8");
  const toolStarts = await machine.starts();
  expect(await provisioning.provide(ignore, signal)).toEqual(first);
  expect(await readFile(join(machine.folder, "engine-starts"), "utf8")).toBe(engineStarts);
  expect(await machine.starts()).toEqual(toolStarts);
});

test("a build that was altered afterwards is refused aloud and made again", async () => {
  const provisioning = createProvisioning(machine.options);
  const first = await provisioning.provide(ignore, signal);
  const program = await readFile(first.path, "utf8");
  await writeFile(first.path, `${program}// altered\n`);
  expect(await provisioning.installed()).toEqual([]);
  const second = await provisioning.provide(ignore, signal);
  expect(second.digest).toBe(first.digest);
  expect(await readFile(second.path, "utf8")).toBe(program);
  expect(machine.logged.map(({ msg }) => msg).join("\n")).toContain(
    "not the program that was built",
  );
});

test("a build whose receipt is gone is tried again and kept", async () => {
  const provisioning = createProvisioning(machine.options);
  const first = await provisioning.provide(ignore, signal);
  await rm(join(dirname(first.path), "receipt.json"));
  const second = await provisioning.provide(ignore, signal);
  expect(second).toMatchObject({ path: first.path, digest: first.digest });
  expect(await machine.starts()).toHaveLength(2);
});
