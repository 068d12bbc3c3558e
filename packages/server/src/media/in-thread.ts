import { Worker } from "node:worker_threads";

/** Memory of a thread, MiB, besides what its WebAssembly takes. */
const HEAP_MIB = 256;

/**
 * The one message of a thread that is started for it, and ended with it: when it takes longer than `timeoutMs`, too,
 * because what it runs cannot be interrupted.
 * @param program of the thread; it gets `task` as its data, and answers what it was asked for or `{ error }`
 * @throws Error when it fails or answers with one; the signal's reason
 */
export async function inThread<Answer extends object>(
  program: URL,
  task: object,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Answer> {
  signal.throwIfAborted();
  const worker = new Worker(program, {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    stderr: true,
    stdout: true,
  });
  const ends = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    return await new Promise<Answer>((resolve, reject) => {
      ends.addEventListener("abort", () => reject(ends.reason), { once: true });
      worker.once("error", reject);
      worker.once("exit", (code) => reject(new Error(`the decoder ended with ${code}`)));
      worker.once("message", (answer: Answer | { error: string }) => {
        if ("error" in answer) reject(new Error(answer.error));
        else resolve(answer);
      });
    });
  } finally {
    await worker.terminate();
  }
}
