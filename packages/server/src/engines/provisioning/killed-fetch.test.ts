import { access, readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { provideElsewhere } from "./__fixtures__/elsewhere.js";
import { type FakeMachine, makeFakeMachine } from "./__fixtures__/fake-machine.js";
import { addRelease } from "./__fixtures__/fake-release.js";
import { createProvisioning } from "./index.js";

let machine: FakeMachine;
const signal = new AbortController().signal;

beforeEach(async () => {
  machine = await makeFakeMachine();
});

afterEach(() => machine.remove());

/** The engine's folder holds whole builds only, and a new start ends with a good one. */
async function expectWholeAfterwards(): Promise<void> {
  const provisioning = createProvisioning(machine.options);
  const before = await provisioning.installed();
  for (const { path } of before) await access(join(dirname(path), "libllama.so.0"));
  const binary = await provisioning.provide(() => undefined, signal);
  expect(binary.id).toBe("b11434-cpu-release");
  expect(await readFile(join(dirname(binary.path), "libllama.so.0"), "utf8")).toHaveLength(32_000);
  const left = await readdir(machine.root);
  expect(left.filter((name) => name.startsWith("."))).toEqual([]);
  expect(left.filter((name) => name.endsWith(".lock"))).toEqual([]);
  expect(await readdir(join(machine.cacheDir, "downloads"))).toEqual([]);
}

test("killed half-way through a fetch, the next start has the whole build", async () => {
  const release = await addRelease(machine, [{ accelerator: "cpu" }]);
  release.stallHalfWay();
  const other = provideElsewhere(machine);
  await release.stalled();
  other.child.kill("SIGKILL");
  await other.ended;
  release.goOn();
  await expectWholeAfterwards();
}, 60_000);

test.each(["unpacking", "testing"])(
  "killed while %s, the next start has the whole build",
  async (step) => {
    await addRelease(machine, [{ accelerator: "cpu" }]);
    const other = provideElsewhere(machine);
    other.onSaid = (said) => {
      if (said.step?.startsWith(step)) other.child.kill("SIGKILL");
    };
    await other.ended;
    expect(other.said.some(({ path }) => path !== undefined)).toBe(false);
    await expectWholeAfterwards();
  },
  60_000,
);

test("killed at any moment, the next start has the whole build", async () => {
  await addRelease(machine, [{ accelerator: "cpu" }]);
  let begun = 0;
  for (const delayMs of [0, 15, 60]) {
    const other = provideElsewhere(machine);
    let timer: NodeJS.Timeout | undefined;
    other.onSaid = () => {
      if (timer !== undefined) return;
      begun += 1;
      timer = setTimeout(() => other.child.kill("SIGKILL"), delayMs);
    };
    await other.ended;
    clearTimeout(timer);
    const installed = await createProvisioning(machine.options).installed();
    for (const { path } of installed) await access(join(dirname(path), "libllama.so.0"));
    if (installed.length > 0) break;
  }
  expect(begun).toBeGreaterThan(0);
  await expectWholeAfterwards();
}, 120_000);

test("two processes at once fetch one release", async () => {
  const release = await addRelease(machine, [{ accelerator: "cpu" }]);
  const others = [provideElsewhere(machine), provideElsewhere(machine)];
  await Promise.all(others.map(({ ended }) => ended));
  const paths = others.map(({ said }) => said.at(-1)?.path);
  expect(paths[0]).toContain("release-cpu");
  expect(paths[1]).toBe(paths[0]);
  expect(release.asked.filter((name) => name === release.fileOf("cpu"))).toHaveLength(1);
  await expectWholeAfterwards();
}, 60_000);
