import { type ExitReason, LoadError, type LoadPlan, type LoadProgress } from "../engine.js";
import {
  type EngineAddress,
  engineEnvironment,
  freshAddress,
  type HostedProcess,
  startProcess,
} from "../host/index.js";
import { EngineClient } from "./client.js";
import { type LaunchModel, launchFlags } from "./flags.js";
import { LoadLog } from "./load-log.js";

/** Another build may word its log otherwise: then asking finds out that it can serve, this often. */
const ASK_EVERY_MS = 100;

/** How a server is started, whatever it is then used for. */
export interface StartSettings {
  /** Absolute path of the llama-server. */
  program: string;
  /** What the server inherits from; secrets and flags in disguise are left out. */
  env: NodeJS.ProcessEnv;
  threads: number;
  batch: number;
  waitPolicy: "brief" | "passive" | undefined;
  /** Folder for its socket. */
  runtimeDir: string;
  /** Undefined: a Unix socket where the system has them. */
  addressKind: EngineAddress["kind"] | undefined;
  loadTimeoutMs: number;
}

/** A llama-server that can serve. Whoever started it stops its process. */
export interface LlamaServer {
  readonly process: HostedProcess;
  readonly client: EngineClient;
  /** What it told while it loaded. */
  readonly loading: LoadLog;
  /** Resolves once, when the process, its connections and its socket are gone. Never rejects. */
  readonly exited: Promise<ExitReason>;
}

/**
 * Starts a llama-server with a model and resolves when it can serve.
 * @throws SomnusError `model_unavailable` when the plan does not fit the model
 * @throws LoadError when it ends, or does not become ready in time
 * @throws the signal's reason when it fires first; the process is gone by then
 */
export async function startServer(
  model: LaunchModel,
  plan: LoadPlan,
  settings: StartSettings,
  on: LoadProgress,
  signal: AbortSignal,
): Promise<LlamaServer> {
  signal.throwIfAborted();
  const address = await freshAddress(settings.runtimeDir, settings.addressKind);
  let process: HostedProcess | undefined;
  let client: EngineClient | undefined;
  try {
    signal.throwIfAborted();
    const readiness = new Readiness();
    const loading = new LoadLog(() => performance.now(), on);
    process = await startProcess({
      program: settings.program,
      args: launchFlags(model, plan, {
        listen: address,
        threads: settings.threads,
        batch: settings.batch,
      }),
      env: environment(settings, address),
      onLine(line) {
        if (readiness.reached) return;
        loading.read(line);
        if (loading.listening !== undefined) readiness.reach();
      },
    });
    if (address.kind === "socket") client = new EngineClient({ socketPath: address.path });
    await ready(process, readiness, client, settings.loadTimeoutMs, signal);
    client ??= loopbackClient(loading.listening, address);
    const engine = client;
    const exited = process.exited.then(async (exit) => {
      await engine.destroy().catch(() => {});
      await address.release().catch(() => {});
      return exit;
    });
    return { process, client: engine, loading, exited };
  } catch (error) {
    await process?.stop("now");
    await client?.destroy().catch(() => {});
    await address.release().catch(() => {});
    throw error;
  }
}

/** Ends a server that failed an exchange; why it ended where it had ended by itself, else null. */
export async function endOf(server: LlamaServer): Promise<ExitReason | null> {
  await server.process.stop("now");
  const exit = await server.exited;
  return exit.kind === "closed" ? null : exit;
}

/** A moment that is reached once. */
class Readiness {
  reached = false;
  #reach: () => void = () => {};
  readonly moment = new Promise<void>((resolve) => {
    this.#reach = resolve;
  });

  reach(): void {
    this.reached = true;
    this.#reach();
  }
}

function environment(settings: StartSettings, address: EngineAddress): Record<string, string> {
  return engineEnvironment(settings.env, {
    // Brief is what the runtime does by itself; its "active" would keep the cores busy for ever.
    ...(settings.waitPolicy === "passive" ? { OMP_WAIT_POLICY: "passive" } : {}),
    // Not among the flags: those can be read by every user of the machine.
    ...(address.kind === "loopback" ? { LLAMA_API_KEY: address.apiKey } : {}),
  });
}

async function ready(
  process: HostedProcess,
  readiness: Readiness,
  client: EngineClient | undefined,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  // It may have fired while the process was started, and a signal tells of itself only once.
  signal.throwIfAborted();
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), timeoutMs);
  });
  const aborted = new Promise<"aborted">((resolve) => {
    signal.addEventListener("abort", () => resolve("aborted"), { once: true, signal: over.signal });
  });
  try {
    const outcome = await Promise.race([
      readiness.moment,
      process.exited,
      late,
      aborted,
      ...(client ? [answering(client, over.signal)] : []),
    ]);
    signal.throwIfAborted();
    if (outcome === "late") throw notReady(process, timeoutMs);
    if (typeof outcome === "object") throw new LoadError(outcome);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}

/** Resolves when the server says that it is well; never rejects, and never resolves when cut. */
async function answering(client: EngineClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ASK_EVERY_MS);
      function done() {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      }
      signal.addEventListener("abort", done, { once: true });
    });
    if (signal.aborted) break;
    const answer = await client.get("/health", signal).catch(() => null);
    if (answer?.status === 200) return;
  }
  return new Promise(() => {});
}

function notReady(process: HostedProcess, timeoutMs: number): LoadError {
  return new LoadError({
    kind: "timed_out",
    message: `The engine was not ready within ${Math.round(timeoutMs / 1000)} s and was ended.`,
    code: null,
    signal: null,
    log: process.lastLines(),
  });
}

function loopbackClient(listening: string | undefined, address: EngineAddress): EngineClient {
  if (listening === undefined || address.kind !== "loopback") {
    throw new Error("the engine did not say where it listens");
  }
  return new EngineClient({ origin: listening, apiKey: address.apiKey });
}
