import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFakeMachine } from "../__fixtures__/fake-machine.js";
import { isRunning } from "../__fixtures__/running.js";
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
    const pids = (await readFile(join(machine.folder, "ninja-pids"), "utf8"))
      .split(" ")
      .map(Number);
    for (const pid of pids) await expect.poll(() => isRunning(pid)).toBe(false);
    expect((await readdir(machine.root)).sort()).toEqual(["logs"]);
  } finally {
    await machine.remove();
  }
});
