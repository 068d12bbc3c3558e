import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFakeMachine } from "../__fixtures__/fake-machine.js";
import { createProvisioning } from "../index.js";

test("an aborted build ends its whole process tree and leaves no half-made folder", async () => {
  const machine = await makeFakeMachine({ fault: "hang" });
  try {
    const abort = new AbortController();
    const reason = new Error("stopped");
    const running = createProvisioning(machine.options).provide(({ done }) => {
      if (done === 3) abort.abort(reason);
    }, abort.signal);
    await expect(running).rejects.toBe(reason);
    const pids = (await readFile(join(machine.folder, "hanging"), "utf8")).split(" ").map(Number);
    for (const pid of pids) await expect.poll(() => isRunning(pid)).toBe(false);
    expect((await readdir(machine.root)).sort()).toEqual(["logs"]);
  } finally {
    await machine.remove();
  }
});

/** A killed process that nobody has collected yet is not running. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  return !/\) [ZX] /.test(stat);
}
