import { expect, it } from "vitest";
import { systemWith } from "../../processes/__fixtures__/system.js";
import { readProcessMemory } from "./process-memory.js";

const status = (kB: number) => `Name:\tnode\nVmHWM:\t 99999 kB\nVmRSS:\t ${kB} kB`;
const rollup = (kB: number) => `00400000-7fff ---p 00000000 00:00 0 [rollup]\nPss: ${kB} kB\n`;

it("is the sum over this process and all that it has started, whichever thread did", async () => {
  const files = await systemWith({
    "/proc/10/status": status(100),
    "/proc/10/smaps_rollup": rollup(90),
    "/proc/10/task/10/children": "20 30 ",
    "/proc/10/task/11/children": "40 ",
    "/proc/20/status": status(200),
    "/proc/20/smaps_rollup": rollup(110),
    "/proc/20/task/20/children": "50 ",
    "/proc/30/status": "Name:\tllama-server\nState:\tZ (zombie)",
    "/proc/40/status": status(400),
    "/proc/40/smaps_rollup": rollup(400),
    "/proc/50/status": status(800),
    "/proc/50/smaps_rollup": rollup(500),
    "/proc/60/status": status(10_000),
  });
  expect(await readProcessMemory(files, 10)).toEqual({
    residentBytes: 1_500 * 1_024,
    footprintBytes: 1_100 * 1_024,
  });
});

it("does not tell a footprint when one process hides its own", async () => {
  const files = await systemWith({
    "/proc/10/status": status(100),
    "/proc/10/task/10/children": "",
  });
  expect(await readProcessMemory(files, 10)).toEqual({
    residentBytes: 102_400,
    footprintBytes: null,
  });
});

it("is null on a system that does not tell", async () => {
  expect(await readProcessMemory(await systemWith({}), 10)).toBeNull();
});
