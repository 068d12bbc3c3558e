import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { LoadPhase } from "../engine.js";
import { LoadLog } from "./load-log.js";

const MIB = 1024 * 1024;
/** Printed by build 11434 at verbosity 4, on a machine without an accelerator. */
const RECORDED = readFileSync(new URL("./__fixtures__/load-11434.log", import.meta.url), "utf8");

function read(lines: string[]) {
  const phases: LoadPhase[] = [];
  let clock = 0;
  const log = new LoadLog(
    () => clock,
    (phase) => phases.push(phase),
  );
  for (const line of lines) {
    clock += 1;
    log.read(line);
  }
  return { log, phases };
}

it("reads a recorded load", () => {
  const { log, phases } = read(RECORDED.split("\n"));
  expect(phases).toEqual(["starting", "weights", "context", "warmup", "ready"]);
  expect(log.listening).toBe("unix:///run/engine/e.sock");
  expect(log.contextTokens).toBe(8192);
  expect(log.thinking).toBe(false);
  const facts = log.facts();
  expect(facts.loadMode).toBe("mmap");
  expect(facts.hostWeightBytes).toBe(Math.round(92.1 * MIB));
  expect(facts.weightsMs).toBeGreaterThan(0);
  expect(facts.contextMs).toBeGreaterThan(0);
  for (const absent of ["projectorMs", "gpuLayers", "vramWeightBytes", "vramKvAndWorkspaceBytes"]) {
    expect(facts).not.toHaveProperty(absent);
  }
});

it("tells device memory from host memory", () => {
  const { log } = read([
    "load_tensors: loading model tensors, this can take a while... (load_mode = none)",
    "load_tensors: offloaded 29/29 layers to GPU",
    "load_tensors:        CUDA0 model buffer size =   900.50 MiB",
    "load_tensors:        CUDA1 model buffer size =   100.00 MiB",
    "load_tensors:   CUDA_Host model buffer size =    20.00 MiB",
    "load_tensors:          CPU model buffer size =    80.00 MiB",
    "llama_kv_cache:      CUDA0 KV buffer size =   180.00 MiB",
    "sched_reserve:      CUDA0 compute buffer size =     5.25 MiB",
    "sched_reserve:  CUDA_Host compute buffer size =     9.00 MiB",
    "llama_context:  CUDA_Host  output buffer size =     0.75 MiB",
  ]);
  expect(log.facts()).toMatchObject({
    loadMode: "read",
    gpuLayers: 29,
    vramWeightBytes: 1000.5 * MIB,
    hostWeightBytes: 100 * MIB,
    vramKvAndWorkspaceBytes: 185.25 * MIB,
  });
});

it("knows a template that thinks, and a projector only after the context", () => {
  const { log, phases } = read([
    "srv    load_model: loading model 'x'",
    "clip_model_loader: model name:   sizes only",
    "llama_context: constructing llama_context",
    "clip_model_loader: model name:   for real",
    "srv          init: init: chat template, thinking = 1",
    "srv  llama_server: model loaded",
  ]);
  expect(phases).toEqual(["starting", "weights", "context", "projector", "ready"]);
  expect(log.thinking).toBe(true);
  expect(log.facts()).toMatchObject({ weightsMs: 2, contextMs: 1, projectorMs: 2 });
});

it("enters no phase twice", () => {
  const lines = RECORDED.split("\n");
  expect(read([...lines, ...lines]).phases).toHaveLength(5);
});
