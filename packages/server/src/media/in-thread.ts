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
  const late = AbortSignal.timeout(timeoutMs);
  const ends = AbortSignal.any([signal, late]);
  try {
    return await new Promise<Answer>((resolve, reject) => {
      ends.addEventListener(
        "abort",
        () => {
          const tooLong = new Error(`it takes longer than ${timeoutMs / 1_000} s`);
          reject(signal.aborted ? signal.reason : tooLong);
        },
        { once: true },
      );
      // What brings a thread to fall is told in the words of its program, which are no client's business.
      worker.once("error", (cause) => reject(new Error("the decoder failed", { cause })));
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
