import { afterEach, expect, it, vi } from "vitest";
import { MachineMemory } from "./machine-memory.js";
import { createLog } from "./observe/index.js";

afterEach(() => {
  vi.useRealTimers();
});

it("reads the machine when it measures, and not for whoever plans a request with it", async () => {
  let asked = 0;
  const memory = new MachineMemory({
    config: { hardware: { cpu_lane: true, kv_park: false, kv_park_max_bytes: 1 } },
    engine: {
      devices: async () => {
        asked++;
        return [];
      },
      build: async () => "11434 abc",
      threads: async () => 3,
    },
    bandwidths: () => ({ diskToHost: 1e9, hostToDevice: null, host: null }),
    env: process.env,
    log: createLog("silent"),
  });
  expect(memory.grounds()).toBeNull();
  await memory.measure(() => [], new AbortController().signal);
  vi.useFakeTimers({ toFake: ["performance"] });
  vi.advanceTimersByTime(60_000);
  expect(memory.grounds()).toMatchObject({
    machine: { simulated: false, bandwidths: { diskToHost: 1e9 } },
    build: "11434 abc",
    threads: 3,
  });
  await Promise.resolve();
  expect(asked).toBe(1);
  await memory.close();
});
