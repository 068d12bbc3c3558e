import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test, vi } from "vitest";
import { ROOT, script } from "./checkout.js";
import { runNode } from "./run-node.js";
import { temporaryFolder } from "./temporary-folder.js";

// Starting many programs is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const RUNNER = pathToFileURL(join(ROOT, "scripts/lib/vitest-run.mjs")).href;

/** Runs our test script's inner part on a folder of plain JavaScript tests; gives the last line and the status. */
async function outcome(
  files: Record<string, string>,
  args: string[] = [],
): Promise<{ last: string | undefined; status: number | null }> {
  const folder = temporaryFolder({
    "vitest.config.mjs": "export default { test: { globals: true } };",
    ...files,
  });
  const program = `
    import { runTests } from ${JSON.stringify(RUNNER)};
    process.exitCode = await runTests({ cwd: process.cwd(), args: ${JSON.stringify(args)} });`;
  const ended = await runNode(["--input-type=module", "-e", program], { cwd: folder });
  return { last: ended.stdout.trimEnd().split("\n").at(-1), status: ended.status };
}

const passing = 'test("one", () => {}); test("two", () => {});';

test("a passing run, with the arguments it was given", async () => {
  const files = {
    "a.test.js": passing,
    "b.test.js": 'test("three", () => { throw new Error("x"); });',
  };
  const args = ["a.test.js", "--reporter=dot"];
  expect(await outcome(files, args)).toEqual({ last: "2 passed, 0 failed", status: 0 });
});

test("every way to fail counts: a test, a file, a suite's hook, an error outside all tests", async () => {
  const files = {
    "a.test.js": `${passing} test("three", () => { expect(1).toBe(2); }); test.skip("four", () => {});`,
    "b.test.js": 'throw new Error("this file does not load");',
    "c.test.js":
      'describe("s", () => { beforeAll(() => { throw new Error("x"); }); test("five", () => {}); });',
    "d.test.js": 'test("six", () => { void Promise.reject(new Error("nobody waits for it")); });',
  };
  expect(await outcome(files)).toEqual({ last: "3 passed, 4 failed, 2 skipped", status: 1 });
});

test("a run that finds no test fails", async () => {
  expect(await outcome({})).toEqual({ last: "0 passed, 1 failed", status: 1 });
});

test.runIf(process.platform !== "win32")("a killed vitest fails", async () => {
  const files = {
    "a.test.js": passing,
    "vitest.config.mjs": 'export default { test: { globalSetup: ["./kill.mjs"] } };',
    "kill.mjs": 'export default () => { process.kill(process.pid, "SIGKILL"); };',
  };
  expect(await outcome(files)).toEqual({ last: "0 passed, 1 failed", status: 137 });
});

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}
const { settle } = await script<{
  settle(counts: Counts | undefined, status: number): Counts & { status: number };
}>("lib/test-summary.mjs");

test.each<[string, Counts | undefined, number, Counts & { status: number }]>([
  [
    "all passed",
    { passed: 2, failed: 0, skipped: 1 },
    0,
    { passed: 2, failed: 0, skipped: 1, status: 0 },
  ],
  [
    "failures that vitest forgot",
    { passed: 2, failed: 1, skipped: 0 },
    0,
    { passed: 2, failed: 1, skipped: 0, status: 1 },
  ],
  [
    "a status that no test explains",
    { passed: 2, failed: 0, skipped: 0 },
    3,
    { passed: 2, failed: 1, skipped: 0, status: 3 },
  ],
  [
    "only skipped tests",
    { passed: 0, failed: 0, skipped: 4 },
    0,
    { passed: 0, failed: 1, skipped: 4, status: 1 },
  ],
  [
    "no result, though the status is 0",
    undefined,
    0,
    { passed: 0, failed: 1, skipped: 0, status: 1 },
  ],
])("%s", (_, counts, status, expected) => {
  expect(settle(counts, status)).toEqual(expected);
});
