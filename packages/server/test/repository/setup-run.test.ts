import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test, vi } from "vitest";
import { ROOT } from "./checkout.js";
import { type Ended, runNode } from "./run-node.js";
import { temporaryFolder } from "./temporary-folder.js";

// Starting many programs is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const BOOTSTRAP = pathToFileURL(join(ROOT, "scripts/lib/bootstrap.mjs")).href;

/** Stands in for npm: "installs" a compiler that "builds", and notes each run. */
const NPM = `
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
appendFileSync("runs", "npm " + process.argv.slice(2).join(" ") + "\\n");
if (process.env.FAKE_NPM_FAILS) {
  console.error("npm error code " + process.env.FAKE_NPM_FAILS);
  process.exit(7);
}
mkdirSync("node_modules/typescript/bin", { recursive: true });
writeFileSync("node_modules/typescript/bin/tsc", \`
const { appendFileSync, mkdirSync, writeFileSync } = require("node:fs");
appendFileSync("runs", "tsc " + process.argv.slice(2).join(" ") + "\\\\n");
if (process.env.FAKE_TSC_FAILS) { console.log("a.ts(1,1): error TS1005"); process.exit(2); }
mkdirSync("packages/one/dist", { recursive: true });
writeFileSync("packages/one/dist/.tsbuildinfo", "{}");
\`);
writeFileSync("node_modules/.package-lock.json", '{"packages":{}}');
`;

function checkout(): string {
  return temporaryFolder({
    "package-lock.json": '{"packages":{"":{}}}',
    "package.json": "{}",
    "tsconfig.json": '{"references":[{"path":"packages/one"}]}',
    "packages/one/package.json": "{}",
    "packages/one/src/a.ts": "export {};",
    "packages/one/src/a.test.ts": "export {};",
    "npm/npm-cli.js": NPM,
    "npm/package.json": '{"type":"module"}',
  });
}

function setUp(folder: string, env: Record<string, string> = {}): Promise<Ended> {
  const program = `
    import { bootstrap } from ${JSON.stringify(BOOTSTRAP)};
    try { await bootstrap({ root: process.cwd() }); }
    catch (error) { console.log(error.message); process.exitCode = 1; }`;
  return runNode(["--input-type=module", "-e", program], {
    cwd: folder,
    env: { npm_execpath: join(folder, "npm/npm-cli.js"), ...env },
  });
}

const runs = (folder: string): string[] =>
  existsSync(join(folder, "runs"))
    ? readFileSync(join(folder, "runs"), "utf8").trimEnd().split("\n")
    : [];
const BOTH = ["npm ci --include=dev --include=optional", "tsc --build"];

test("the first run installs and builds and says so with times; the second is silent", async () => {
  const folder = checkout();
  const first = await setUp(folder);
  expect(first.status).toBe(0);
  expect(first.stderr).toMatch(
    /^installing packages \(first run\) \.\.\. \d+\.\d s\nbuilding \(first run\) \.\.\. \d+\.\d s\n$/,
  );
  expect(runs(folder)).toEqual(BOTH);
  const second = await setUp(folder);
  expect(second).toEqual({ status: 0, stdout: "", stderr: "" });
  expect(runs(folder)).toEqual(BOTH);
});

test("a changed source is built again, a changed test is not", async () => {
  const folder = checkout();
  await setUp(folder);
  writeFileSync(join(folder, "packages/one/src/a.test.ts"), "export const changed = 1;");
  await setUp(folder);
  expect(runs(folder)).toEqual(BOTH);
  writeFileSync(join(folder, "packages/one/src/a.ts"), "export const changed = 1;");
  await setUp(folder);
  expect(runs(folder)).toEqual([...BOTH, "tsc --build"]);
});

test("a failed npm ci shows npm's words and what to do, and is tried again", async () => {
  const folder = checkout();
  const failed = await setUp(folder, { FAKE_NPM_FAILS: "ENOSPC" });
  expect(failed.status).toBe(1);
  expect(failed.stdout).toContain("`npm ci` failed (exit status 7)");
  expect(failed.stdout).toContain("npm error code ENOSPC");
  expect(failed.stdout).toContain("The disk is full");
  expect((await setUp(folder)).status).toBe(0);
  expect(runs(folder)).toEqual([BOTH[0], ...BOTH]);
});

test("a failed build shows the compiler's words, and is tried again without installing", async () => {
  const folder = checkout();
  const failed = await setUp(folder, { FAKE_TSC_FAILS: "1" });
  expect(failed.status).toBe(1);
  expect(failed.stdout).toContain("a.ts(1,1): error TS1005");
  await setUp(folder);
  expect(runs(folder)).toEqual([...BOTH, "tsc --build"]);
});

test("two at once do each step once", async () => {
  const folder = checkout();
  const both = await Promise.all([setUp(folder), setUp(folder), setUp(folder)]);
  expect(both.map(({ status }) => status)).toEqual([0, 0, 0]);
  expect(runs(folder)).toEqual(BOTH);
  expect(existsSync(join(folder, ".setup/lock"))).toBe(false);
});

/** A process id that was in use a moment ago and is free now. */
async function endedPid(folder: string): Promise<number> {
  const ended = await runNode(["-p", "process.pid"], { cwd: folder });
  return Number(ended.stdout);
}

test("the lock of a process that died is taken over", async () => {
  const folder = checkout();
  mkdirSync(join(folder, ".setup/lock"), { recursive: true });
  const owner = { pid: await endedPid(folder), host: hostname(), token: "gone" };
  writeFileSync(join(folder, ".setup/lock/owner.json"), JSON.stringify(owner));
  const done = await setUp(folder);
  expect(done.status).toBe(0);
  expect(done.stderr).not.toContain("waiting");
  expect(runs(folder)).toEqual(BOTH);
});

test("the lock of another machine is taken over once it was silent for two minutes", async () => {
  const folder = checkout();
  const lock = join(folder, ".setup/lock");
  mkdirSync(lock, { recursive: true });
  writeFileSync(
    join(lock, "owner.json"),
    JSON.stringify({ pid: 1, host: "elsewhere", token: "x" }),
  );
  const longAgo = new Date(Date.now() - 130_000);
  utimesSync(lock, longAgo, longAgo);
  expect((await setUp(folder)).status).toBe(0);
  expect(runs(folder)).toEqual(BOTH);
});
