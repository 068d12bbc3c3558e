import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import { realEngineBinary, realModel } from "../../../test/real-engine.js";
import { readGgufModel } from "../../gguf/index.js";
import type { Want } from "../estimate-types.js";
import { estimate, totalsOf } from "./index.js";

const MIB = 2 ** 20;
const THREADS = Math.min(2, availableParallelism());

interface Buffer {
  name: string;
  kind: string;
  size: string;
}

/** The buffers that the engine's log names while it loads, in MiB as it prints them. */
async function loadedBuffers(signal: AbortSignal, flags: readonly string[]): Promise<Buffer[]> {
  const child = spawn(realEngineBinary(), flags, {
    stdio: ["ignore", "pipe", "pipe"],
    signal,
    killSignal: "SIGKILL",
  });
  try {
    let log = "";
    await new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          log += text;
          if (log.includes("listening on")) resolve();
        });
      }
      child.once("error", reject);
      child.once("exit", () => reject(new Error(log.slice(-1000))));
    });
    const lines = log.matchAll(/(\S+) +(model|KV|RS|compute|output) +buffer size = +([\d.]+) MiB/g);
    return [...lines].map(([, name = "", kind = "", size = ""]) => ({ name, kind, size }));
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    }
  }
}

it("an encoder that is run for vectors: weights and buffers are what its engine allocates", async ({
  signal,
}) => {
  const path = await realModel("all-minilm:l6-v2");
  const want = { contextTokens: 512, slots: 4, batchTokens: 512, vectors: true };
  const estimated = estimate(await readGgufModel(path), want, { devices: 0, threads: 1 });
  const buffers = await loadedBuffers(signal, [
    ...["--model", path, "--host", "127.0.0.1", "--port", "0"],
    ...["--offline", "--no-ui", "--fit", "off", "--kv-unified", "--cache-ram", "0"],
    ...["--verbosity", "4", "--gpu-layers", "0", "--threads", "1", "--embedding"],
    ...["--ctx-size", "512", "--parallel", "4", "--batch-size", "512", "--ubatch-size", "512"],
  ]);
  const sizeOf = (kind: string) => Number(buffers.find((buffer) => buffer.kind === kind)?.size);
  const { weights, kv } = totalsOf(estimated);
  expect(buffers.map(({ kind }) => kind)).toEqual(["model", "output", "compute"]);
  expect(kv).toBe(0);
  expect(Math.abs(weights / MIB - sizeOf("model"))).toBeLessThan(0.0051);
  expect(Math.abs(estimated.compute!.host / MIB / sizeOf("compute") - 1)).toBeLessThan(0.02);
  // It grows with the first full batch: then every token has an output.
  expect(estimated.workspace.host / MIB - sizeOf("compute")).toBeGreaterThan(60);
});

it.for<Want>([
  { contextTokens: 2048, slots: 1, cacheTypeK: "f16", cacheTypeV: "f16", batchTokens: 128 },
  { contextTokens: 6000, slots: 3, cacheTypeK: "q8_0", cacheTypeV: "q5_1", batchTokens: 512 },
  { contextTokens: 4096, slots: 2, batchTokens: 256, flashAttention: false },
])(
  "a real model: weights, KV and buffers are what its engine allocates %o",
  async (want, { signal }) => {
    const path = await realModel("smollm2:135m");
    const estimated = estimate(await readGgufModel(path), want, { devices: 0, threads: THREADS });
    const buffers = await loadedBuffers(signal, [
      ...["--model", path, "--host", "127.0.0.1", "--port", "0"],
      ...["--offline", "--no-ui", "--fit", "off", "--kv-unified", "--cache-ram", "0"],
      ...["--verbosity", "4", "--gpu-layers", "0", "--threads", String(THREADS)],
      ...["--ctx-size", String(want.contextTokens), "--parallel", String(want.slots)],
      ...["--batch-size", String(want.batchTokens), "--ubatch-size", String(want.batchTokens)],
      ...["--cache-type-k", want.cacheTypeK ?? "f16", "--cache-type-v", want.cacheTypeV ?? "f16"],
      ...["--flash-attn", want.flashAttention === false ? "off" : "on"],
    ]);
    const near = (bytes: number, kind: string) =>
      // The log rounds to a hundredth.
      expect(Math.abs(bytes / MIB - sizeOf(kind)), kind).toBeLessThan(0.0051);
    const sizeOf = (kind: string) => Number(buffers.find((buffer) => buffer.kind === kind)?.size);
    const { weights, kv } = totalsOf(estimated);
    expect(buffers.map(({ kind }) => kind)).toEqual(["model", "output", "KV", "compute"]);
    near(weights, "model");
    near(kv, "KV");
    near(49_152 * want.slots * 4, "output");
    const compute = estimated.compute!.host;
    if (want.flashAttention === false) {
      expect(Math.abs(compute / MIB / sizeOf("compute") - 1)).toBeLessThan(0.02);
    } else {
      near(compute, "compute");
    }
  },
);
