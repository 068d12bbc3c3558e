import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { provideElsewhere } from "../__fixtures__/elsewhere.js";
import { makeFakeMachine } from "../__fixtures__/fake-machine.js";
import { createProvisioning } from "../index.js";

test("two processes build once: the second waits, says so, and uses what the first built", async () => {
  const machine = await makeFakeMachine({ fault: "wait" });
  const first = provideElsewhere(machine);
  try {
    await expect
      .poll(() => first.said.some(({ done }) => done === 3), { timeout: 25_000 })
      .toBe(true);
    const steps: string[] = [];
    const second = createProvisioning(machine.options).provide(({ step }) => {
      steps.push(step);
    }, new AbortController().signal);
    await expect.poll(() => steps.join()).toContain(`waiting for process ${first.child.pid}`);
    await writeFile(join(machine.folder, "go"), "");
    const binary = await second;
    await first.ended;
    expect(first.said.at(-1)).toEqual({ path: binary.path });
    expect((await machine.starts()).filter(([name]) => name === "ninja")).toHaveLength(1);
  } finally {
    first.child.kill("SIGKILL");
    await first.ended;
    await machine.remove();
  }
});
