import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeFakeEngine } from "../__fixtures__/fake-engine.js";
import { smokeTest } from "./smoke-test.js";

test("an aborted smoke test ends with the reason, and its folder is gone", async () => {
  const folder = await mkdtemp(join(tmpdir(), "somnus-test-"));
  try {
    const startsFile = join(folder, "starts");
    await writeFakeEngine(join(folder, "engine"), { fault: "stall", startsFile });
    const abort = new AbortController();
    const reason = new Error("no longer wanted");
    const running = smokeTest(join(folder, "engine"), process.env, abort.signal);
    await expect.poll(() => readFile(startsFile, "utf8").catch(() => "")).not.toBe("");
    const args = JSON.parse(await readFile(startsFile, "utf8")) as string[];
    abort.abort(reason);
    await expect(running).rejects.toBe(reason);
    const model = args[args.indexOf("--model") + 1] as string;
    await expect(readdir(join(model, ".."))).rejects.toThrow(/ENOENT/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
