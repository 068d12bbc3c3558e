import type { Logger } from "../../observe/index.js";
import {
  type EngineFacts,
  LoadError,
  type LoadPlan,
  type LoadProgress,
  type ModelSpec,
} from "../engine.js";
import {
  type EngineAddress,
  engineEnvironment,
  freshAddress,
  type HostedProcess,
  startProcess,
} from "../host/index.js";
import { EngineClient } from "./client.js";
import { launchFlags } from "./flags.js";
import { LoadLog } from "./load-log.js";
import { LlamaLoaded } from "./loaded.js";

/** Another build may word its log otherwise: then asking finds out that it can serve, this often. */
const ASK_EVERY_MS = 100;

export interface LoadSettings {
  program: string;
  /** For example "11434". */
  version: string;
  threads: number;
  batch: number;
  waitPolicy: "active" | "passive" | undefined;
  runtimeDir: string;
  addressKind: EngineAddress["kind"] | undefined;
  stallMs: number;
  loadTimeoutMs: number;
  log: Logger;
  onPrefill(tokens: number, ms: number): void;
}

/**
 * Starts a llama-server for a model and resolves when it can serve.
 * @throws LoadError when it ends, or does not become ready in time
 * @throws the signal's reason when it fires first; the process is gone by then
 */
export async function loadModel(
  model: ModelSpec,
  plan: LoadPlan,
  settings: LoadSettings,
  on: LoadProgress,
  signal: AbortSignal,
): Promise<LlamaLoaded> {
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
    const hosted = process;
    if (address.kind === "socket") client = new EngineClient({ socketPath: address.path });
    await ready(hosted, readiness, client, settings.loadTimeoutMs, signal);
    client ??= loopbackClient(loading.listening, address);
    const engine = client;
    const props = await readProps(engine, hosted, settings.loadTimeoutMs, signal);
    const loaded = new LlamaLoaded({
      facts: facts(settings.version, plan, loading, props),
      process: hosted,
      client: engine,
      exited: hosted.exited.then(async (exit) => {
        await engine.destroy().catch(() => {});
        await address.release().catch(() => {});
        return exit;
      }),
      stallMs: settings.stallMs,
      onPrefill: settings.onPrefill,
    });
    settings.log.debug(
      {
        model: model.id,
        pid: hosted.pid,
        parentDeath: hosted.parentDeath,
        load: loaded.facts.load,
      },
      "engine ready",
    );
    return loaded;
  } catch (error) {
    await process?.stop("now");
    await client?.destroy().catch(() => {});
    await address.release().catch(() => {});
    throw error;
  }
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

function environment(settings: LoadSettings, address: EngineAddress): Record<string, string> {
  return engineEnvironment(process.env, {
    ...(settings.waitPolicy === undefined ? {} : { OMP_WAIT_POLICY: settings.waitPolicy }),
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

/** @throws LoadError when the server does not answer in time, or not as llama-server does */
async function readProps(
  client: EngineClient,
  process: HostedProcess,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const own = new AbortController();
  const cut = () => own.abort();
  const timer = setTimeout(cut, timeoutMs);
  signal.addEventListener("abort", cut, { once: true });
  let cause: unknown;
  try {
    const answer = await client.get("/props", own.signal);
    if (answer.status === 200 && typeof answer.body === "object" && answer.body !== null) {
      return answer.body as Record<string, unknown>;
    }
  } catch (error) {
    cause = error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cut);
  }
  signal.throwIfAborted();
  await process.stop("now");
  const exit = await process.exited;
  throw new LoadError(
    exit.kind === "closed" ? { ...exit, kind: "failed", message: NO_PROPS } : exit,
    { cause },
  );
}

const NO_PROPS = "The engine does not describe itself; choose another engine build.";

function facts(
  version: string,
  plan: LoadPlan,
  loading: LoadLog,
  props: Record<string, unknown>,
): EngineFacts {
  const caps = (props.chat_template_caps ?? {}) as Record<string, unknown>;
  const slots = props.total_slots;
  return {
    version: version.startsWith("llama.cpp") ? version : `llama.cpp ${version}`,
    slots: typeof slots === "number" ? slots : plan.slots,
    contextTokens: loading.contextTokens ?? plan.contextTokens,
    load: loading.facts(),
    template: {
      systemRole: caps.supports_system_role === true,
      tools: caps.supports_tools === true,
      reasoning: loading.thinking || caps.supports_reasoning_effort === true,
    },
  };
}
