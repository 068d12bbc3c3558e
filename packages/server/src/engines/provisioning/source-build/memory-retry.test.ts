import { expect, test } from "vitest";
import { makeFakeMachine } from "../__fixtures__/fake-machine.js";
import { createProvisioning } from "../index.js";
import { parallelJobs } from "./compile.js";

test.runIf(parallelJobs() > 1)(
  "a build that runs out of memory goes on once with one job, and says so",
  async () => {
    const machine = await makeFakeMachine({ fault: "memory" });
    try {
      const steps = new Set<string>();
      const binary = await createProvisioning(machine.options).provide(
        ({ step }) => steps.add(step),
        new AbortController().signal,
      );
      expect(binary.origin).toBe("source");
      const jobs = (await machine.starts())
        .filter(([name]) => name === "ninja")
        .map((args) => args[args.indexOf("-j") + 1]);
      expect(jobs).toEqual([String(parallelJobs()), "1"]);
      expect([...steps].join("\n")).toContain("one job, short of memory");
      expect(machine.logged.map(({ msg }) => msg).join("\n")).toContain("memory ran out");
    } finally {
      await machine.remove();
    }
  },
);

test("jobs follow cores and free memory, and are never none", () => {
  expect(parallelJobs(8, 64e9)).toBe(8);
  expect(parallelJobs(8, 3e9)).toBe(2);
  expect(parallelJobs(8, 1e8)).toBe(1);
});
