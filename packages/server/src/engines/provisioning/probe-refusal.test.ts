import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FakeEngine, writeFakeEngine } from "./__fixtures__/fake-engine.js";
import { missingFlags, probe, readVersion } from "./probe.js";

let path: string;
let folder: string;
const needed = ["--model", "--host", "--ctx-size"];
const signal = new AbortController().signal;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "somnus-test-"));
  path = join(folder, "llama-server");
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function probed(engine: FakeEngine, timeoutMs?: number) {
  await writeFakeEngine(path, engine);
  return probe(path, needed, process.env, signal, timeoutMs);
}

test("a program with all flags is usable, and its build is read", async () => {
  expect(await probed({})).toEqual({ usable: true, build: 11434, version: "llama.cpp 11434" });
});

test("a missing flag is named, with the build that lacks it", async () => {
  const refused = await probed({ versionLine: "version: 4000 (abc)", flags: ["--model"] });
  expect(refused).toEqual({
    usable: false,
    reason: "it is build 4000, which does not know --host, --ctx-size",
  });
});

test("a program that hangs is refused after the time limit", async () => {
  expect(await probed({ fault: "hang" }, 400)).toEqual({
    usable: false,
    reason: "it did not answer --version within 0.4 seconds",
  });
});

test("another program with the same name is refused", async () => {
  expect(await probed({ versionLine: "GNU hello 2.10" })).toMatchObject({
    usable: false,
    reason: expect.stringMatching(/the way llama-server does/),
  });
});

test("a program that misses a library, or fails, is refused with why", async () => {
  const refusal = async (script: string) => {
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
    const result = await probe(path, needed, process.env, signal);
    return result.usable ? "" : result.reason;
  };
  const loader = "error while loading shared libraries: libcuda.so.1: cannot open";
  expect(await refusal(`echo "${loader}" >&2; exit 127`)).toBe(
    "it needs the library libcuda.so.1, which is missing",
  );
  expect(await refusal("exit 9")).toBe("it failed on --version with exit status 9");
  expect(await refusal("kill -ILL $$")).toMatch(/built for another processor/);
});

test("version lines of older and newer builds are read; build 0 is no build", () => {
  expect(readVersion("x\nversion: 5432 (ab12)\nbuilt with")).toEqual({
    build: 5432,
    version: "llama.cpp 5432",
  });
  expect(readVersion("version: 0.6.0-dev (build 11434, commit unknown)")?.build).toBe(11434);
  expect(readVersion("version: 0 (unknown)")).toEqual({
    build: null,
    version: "llama.cpp 0 (unknown)",
  });
  expect(readVersion("usage: hello")).toBeNull();
});

test("a flag is known only by its whole name", () => {
  const help = "-c,  --ctx-size N   tokens\n--fit-target, see --fit";
  expect(missingFlags(help, ["--ctx-size", "--fit", "--ctx"])).toEqual(["--ctx"]);
});
