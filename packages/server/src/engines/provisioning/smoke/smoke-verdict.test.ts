import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NEEDED_FLAGS } from "../../llama/index.js";
import { type FakeEngine, writeFakeEngine } from "../__fixtures__/fake-engine.js";
import { smokeTest } from "./smoke-test.js";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "somnus-test-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function verdictOn(engine: FakeEngine, timeoutMs?: number): Promise<string | null> {
  const path = join(folder, "engine");
  await writeFakeEngine(path, { startsFile: join(folder, "starts"), ...engine });
  return smokeTest(path, process.env, new AbortController().signal, timeoutMs);
}

test("the right answer passes, and the model was loaded as every model is", async () => {
  expect(await verdictOn({})).toBeNull();
  const args = JSON.parse(await readFile(join(folder, "starts"), "utf8")) as string[];
  const flags = args.filter((word) => word.startsWith("--"));
  expect(NEEDED_FLAGS).toEqual(expect.arrayContaining(flags));
  expect(flags).toContain("--offline");
  expect(args[args.indexOf("--host") + 1]).toMatch(/\.sock$|^127\.0\.0\.1$/);
});

test("a wrong answer is refused and quoted", async () => {
  expect(await verdictOn({ answer: "nonsense" })).toMatch(/computes wrongly.*"nonsense"/);
});

test("an engine that ends is refused with its status and last words", async () => {
  expect(await verdictOn({ fault: "crash" })).toMatch(/exit code 3.*no backend found/);
});

test("an engine that never gets ready is refused after the time limit", async () => {
  expect(await verdictOn({ fault: "stall" }, 500)).toMatch(/did not answer .* within 0\.5 seconds/);
});

test("a program that does not exist is refused", async () => {
  const verdict = await smokeTest(join(folder, "none"), { PATH: "" }, new AbortController().signal);
  expect(verdict).toMatch(/program is missing/);
});
