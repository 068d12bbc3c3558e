import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { LoadBuffers } from "./load-buffers.js";

const MIB = 1024 * 1024;
/** Printed by build 11434 at verbosity 4, on a machine without an accelerator. */
const RECORDED = readFileSync(new URL("./__fixtures__/load-11434.log", import.meta.url), "utf8");

function read(lines: string[]): LoadBuffers {
  const buffers = new LoadBuffers();
  for (const line of lines) buffers.read(line);
  return buffers;
}

it("adds buffers up by what they hold and where, over devices and over kinds of layers", () => {
  const buffers = read([
    "load_tensors:        CUDA0 model buffer size =   900.50 MiB",
    "load_tensors:        CUDA1 model buffer size =   100.00 MiB",
    "load_tensors:   CUDA_Host model buffer size =    20.00 MiB",
    "load_tensors:   CPU_REPACK model buffer size =    80.00 MiB",
    "llama_kv_cache:      CUDA0 KV buffer size =   180.00 MiB",
    "llama_memory_recurrent:        CPU RS buffer size =     1.50 MiB",
    "sched_reserve:      CUDA0 compute buffer size =     5.25 MiB",
    "sched_reserve:  CUDA_Host compute buffer size =     9.00 MiB",
    "llama_context:  CUDA_Host  output buffer size =     0.75 MiB",
  ]);
  expect(buffers.all()).toEqual({
    weights: { device: 1000.5 * MIB, host: 100 * MIB },
    kv: { device: 180 * MIB, host: 1.5 * MIB },
    compute: { device: 5.25 * MIB, host: 9 * MIB },
    output: { device: 0, host: 0.75 * MIB },
  });
});

it("reads a recorded load of a real engine", () => {
  const all = read(RECORDED.split("\n")).all();
  expect(all?.weights).toEqual({ device: 0, host: Math.round(92.1 * MIB) });
  for (const kind of ["kv", "compute", "output"] as const) {
    expect(all?.[kind].host).toBeGreaterThan(0);
    expect(all?.[kind].device).toBe(0);
  }
});

it("is nothing for a build that does not name its buffers", () => {
  expect(read(["loading", "load_tensors: CPU model buffer size = 3.00 MiB"]).all()).toBeUndefined();
});
