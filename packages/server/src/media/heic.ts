import { Worker } from "node:worker_threads";
import type { HeicAnswer, HeicTask } from "./heic-worker.js";

/** A picture as it was decoded: red, green, blue and alpha of each pixel, row by row. */
export interface Pixels {
  width: number;
  height: number;
  rgba: Uint8Array;
}

/** Memory of the thread that decodes, MiB, besides what its WebAssembly takes. */
const HEAP_MIB = 256;

/**
 * Decodes the first picture of a HEIC file in a thread of its own, which is ended when it takes longer than
 * `timeoutMs`: its decoder cannot be interrupted.
 * @throws Error for a file that cannot be decoded, or has more than `maxPixels`; the signal's reason
 */
export async function decodeHeic(
  bytes: Uint8Array,
  maxPixels: number,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Pixels> {
  signal.throwIfAborted();
  const worker = new Worker(new URL("./heic-worker.js", import.meta.url), {
    workerData: { bytes, maxPixels } satisfies HeicTask,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    stderr: true,
    stdout: true,
  });
  const ends = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    return await new Promise<Pixels>((resolve, reject) => {
      ends.addEventListener("abort", () => reject(ends.reason), { once: true });
      worker.once("error", reject);
      worker.once("exit", (code) => reject(new Error(`the decoder ended with ${code}`)));
      worker.once("message", (answer: HeicAnswer) => {
        if ("error" in answer) reject(new Error(answer.error));
        else resolve(answer);
      });
    });
  } finally {
    await worker.terminate();
  }
}
