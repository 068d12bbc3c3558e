import { chmod, copyFile, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  CMAKE,
  type FakeMachine,
  makeFakeMachine,
  writeTool,
} from "../__fixtures__/fake-machine.js";
import { createProvisioning } from "../index.js";

let machine: FakeMachine;

beforeEach(async () => {
  machine = await makeFakeMachine();
});

afterEach(() => machine.remove());

const provide = () =>
  createProvisioning(machine.options).provide(() => undefined, new AbortController().signal);

/** A pip whose packages hold the given programs; it refuses all others. */
async function writePip(programs: Record<string, string>): Promise<void> {
  const body = `
if (args.includes("install")) {
  const name = args.at(-1), source = ${JSON.stringify(programs)}[name];
  if (!source) { console.error("no matching distribution"); process.exit(1); }
  const bin = path.join(args[args.indexOf("--target") + 1], name, "data", "bin");
  fs.mkdirSync(bin, { recursive: true });
  fs.copyFileSync(source, path.join(bin, name));
}`;
  await writeTool(machine.folder, join(machine.programs, "python3"), body);
}

test("a missing cmake and ninja come from the Python index into the work folder", async () => {
  const stash = join(machine.folder, "index");
  await mkdir(stash);
  for (const name of ["cmake", "ninja"]) {
    await rename(join(machine.programs, name), join(stash, name));
  }
  await writePip({ cmake: join(stash, "cmake"), ninja: join(stash, "ninja") });
  expect((await provide()).origin).toBe("source");
  const started = (await machine.starts()).map(([name]) => name);
  expect(started).toEqual(["python3", "python3", "cmake", "ninja"]);
});

test("make stands in for a ninja that cannot be had", async () => {
  await rm(join(machine.programs, "ninja"));
  await writePip({});
  const other = await makeFakeMachine();
  try {
    await copyFile(join(other.programs, "ninja"), join(machine.programs, "make"));
    await chmod(join(machine.programs, "make"), 0o755);
    expect((await provide()).origin).toBe("source");
    const cmake = (await machine.starts()).find(([name]) => name === "cmake");
    expect(cmake?.[cmake.indexOf("-G") + 1]).toBe("Unix Makefiles");
  } finally {
    await other.remove();
  }
});

test("without any of them the error says what is missing and what to install", async () => {
  await rm(join(machine.programs, "cmake"));
  await expect(provide()).rejects.toThrow(/cmake.* missing and pip cannot.*install/s);
  await writeTool(machine.folder, join(machine.programs, "cmake"), CMAKE);
  expect((await provide()).origin).toBe("source");
});
