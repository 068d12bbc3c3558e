import { spawn } from "node:child_process";
import { once } from "node:events";
import { launchFlags } from "../../packages/server/dist/engines/llama/flags.js";
import { memoryOf } from "./engine-memory.mjs";

const MIB = 2 ** 20;

/**
 * Starts an engine with the flags that Somnus gives it and resolves when it can serve.
 * @param {string} program
 * @param {{ path: string, encoder: boolean, gguf: object }} model
 * @param {{ contextTokens: number, slots: number, cacheType: string, batch: number, threads: number }} settings
 */
export async function loadEngine(program, model, settings) {
  const plan = {
    contextTokens: settings.contextTokens,
    slots: settings.slots,
    gpuLayers: 0,
    cpuExpertLayers: 0,
    cacheTypeK: settings.cacheType,
    cacheTypeV: settings.cacheType,
  };
  const flags = launchFlags({ id: model.path, weightsPath: model.path, gguf: model.gguf }, plan, {
    listen: { kind: "loopback", host: "127.0.0.1" },
    threads: settings.threads,
    batch: settings.batch,
  });
  const child = spawn(program, [...flags, ...(model.encoder ? ["--embeddings"] : [])], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const gone = once(child, "exit");
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      log += text;
    });
  }
  let url;
  while (url === undefined) {
    if (child.exitCode !== null) throw new Error(`the engine ended: ${log.slice(-500)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    url = /listening on (http\S+)/.exec(log)?.[1];
  }
  return {
    url,
    buffers: () => buffersOf(log),
    memory: () => memoryOf(child.pid),
    async stop() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** Bytes of the buffers that the engine's log names, to a hundredth of a MiB, all on the host. */
function buffersOf(log) {
  const sums = { model: 0, KV: 0, RS: 0, compute: 0, output: 0, repacked: 0 };
  for (const [, name, kind, size] of log.matchAll(
    /(\S+) +(model|KV|RS|compute|output) +buffer size = +([\d.]+) MiB/g,
  )) {
    sums[kind] += Number(size) * MIB;
    if (name === "CPU_REPACK") sums.repacked += Number(size) * MIB;
  }
  return sums;
}
