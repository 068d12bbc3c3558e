import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { ROOT, text } from "./checkout.js";
import { temporaryFolder } from "./temporary-folder.js";

// Starting many programs is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const unix = process.platform !== "win32";

test.runIf(unix)("CI's command may be executed", () => {
  expect(statSync(join(ROOT, ".ci/run")).mode & 0o111).toBe(0o111);
});

test.runIf(unix).each([0, 3])("from any folder, without input, it is npm test (%i)", (status) => {
  const folder = temporaryFolder({
    ".ci/run": text(".ci/run"),
    "package.json": JSON.stringify({ scripts: { test: `echo "$PWD CI=$CI"; exit ${status}` } }),
  });
  const ended = spawnSync("bash", [join(folder, ".ci/run")], {
    cwd: "/",
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
  });
  expect(ended.stdout).toContain(`${folder} CI=true`);
  expect(ended.status).toBe(status);
});
