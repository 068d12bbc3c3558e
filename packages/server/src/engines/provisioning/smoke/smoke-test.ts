import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LoadError } from "../../engine.js";
import { endOf, startServer } from "../../llama/index.js";
import { TINY_ANSWER, TINY_PROMPT, tinyModel } from "./tiny-model.js";

/** Generous: a first start on an accelerator may compile kernels. */
const SMOKE_TIMEOUT_MS = 60_000;
const CONTEXT_TOKENS = 256;
const BATCH_TOKENS = 64;

/**
 * Loads a generated model of a few kilobytes as every model is loaded and asks it for one token. Gives
 * null when the answer is the right one, else why the program cannot be used (for people). The
 * process, its socket and its folder are gone when this settles.
 * @throws the signal's reason when it fires
 */
export async function smokeTest(
  program: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  timeoutMs: number = SMOKE_TIMEOUT_MS,
): Promise<string | null> {
  signal.throwIfAborted();
  const folder = await mkdtemp(join(tmpdir(), "somnus-smoke-"));
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    return await tryOut(program, folder, env, limit, timeoutMs);
  } catch (error) {
    signal.throwIfAborted();
    const late = error instanceof LoadError && error.exit.kind === "timed_out";
    if (limit.aborted || late) {
      return `it did not answer a test model within ${timeoutMs / 1000} seconds`;
    }
    return `it failed on a test model (${whatHappened(error)})`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function tryOut(
  program: string,
  folder: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<string | null> {
  const weightsPath = join(folder, "tiny.gguf");
  await writeFile(weightsPath, tinyModel());
  const server = await startServer(
    { id: "the test model", weightsPath, gguf: { layers: 1, predictionLayers: null } },
    { slots: 1, contextTokens: CONTEXT_TOKENS, gpuLayers: "auto", cpuExpertLayers: 0 },
    {
      ...{ program, env, threads: 1, batch: BATCH_TOKENS, runtimeDir: folder },
      ...{ waitPolicy: undefined, addressKind: undefined, loadTimeoutMs: timeoutMs },
    },
    () => {},
    signal,
  );
  try {
    const question = { prompt: TINY_PROMPT, n_predict: 1, temperature: 0 };
    const { status, body } = await server.client.post("/completion", question, signal);
    const text =
      typeof body === "object" && body !== null && "content" in body ? body.content : body;
    if (text === TINY_ANSWER) return null;
    const given = JSON.stringify(text).slice(0, 200);
    return `it computes wrongly: a test model gave ${given} (status ${status})`;
  } catch (error) {
    const exit = await endOf(server);
    throw exit === null ? error : new LoadError(exit, { cause: error });
  } finally {
    await endOf(server);
  }
}

function whatHappened(error: unknown): string {
  if (!(error instanceof LoadError)) return error instanceof Error ? error.message : String(error);
  const lastLine = error.exit.log.findLast((line) => line.trim() !== "")?.trim();
  return lastLine === undefined ? error.message : `${error.message} It said: ${lastLine}`;
}
