import { access, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { provideElsewhere } from "../__fixtures__/elsewhere.js";
import { makeFakeMachine } from "../__fixtures__/fake-machine.js";
import { isRunning } from "../__fixtures__/running.js";
import { createProvisioning } from "../index.js";

test("after a builder was killed the next start sweeps its folder and builds whole", async () => {
  const machine = await makeFakeMachine({ fault: "wait" });
  const killed = provideElsewhere(machine);
  try {
    await expect
      .poll(() => killed.said.some(({ done }) => done === 3), { timeout: 25_000 })
      .toBe(true);
    killed.child.kill("SIGKILL");
    await killed.ended;
    const left = await readdir(machine.root);
    expect(left.filter((name) => name.startsWith(`.build-${killed.child.pid}.`))).toHaveLength(1);
    expect(left.filter((name) => name.startsWith("11434"))).toEqual([]);
    if (
      await access(join(machine.programs, "setpriv")).then(
        () => true,
        () => false,
      )
    ) {
      const pid = Number(await readFile(join(machine.folder, "ninja-pids"), "utf8"));
      await expect.poll(() => isRunning(pid)).toBe(false);
    }
    await writeFile(join(machine.folder, "go"), "");
    const binary = await createProvisioning(machine.options).provide(
      () => undefined,
      new AbortController().signal,
    );
    expect(await readFile(binary.path, "utf8")).toContain("alive");
    expect((await readdir(machine.root)).sort()).toEqual(
      [basename(dirname(binary.path)), "history.json", "logs"].sort(),
    );
  } finally {
    killed.child.kill("SIGKILL");
    await killed.ended;
    await machine.remove();
  }
});
