import type { Logger } from "../../observe/index.js";
import {
  type EngineFacts,
  LoadError,
  type LoadPlan,
  type LoadProgress,
  type ModelSpec,
} from "../engine.js";
import { longestInput, physicalBatch } from "./flags.js";
import type { LoadLog } from "./load-log.js";
import { LlamaLoaded } from "./loaded.js";
import { endOf, type LlamaServer, type StartSettings, startServer } from "./start.js";

export interface LoadSettings extends StartSettings {
  /** For example "11434". */
  version: string;
  /** What `EngineProcess` calls so. */
  build: string;
  stallMs: number;
  log: Logger;
  onPrefill(tokens: number, ms: number): void;
}

/**
 * Starts a llama-server for a model and resolves when it can serve and has described itself.
 * @throws SomnusError `model_unavailable` when the plan does not fit the model
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
  const server = await startServer(model, plan, settings, on, signal);
  const { process, client, loading, exited } = server;
  try {
    const props = await readProps(server, settings.loadTimeoutMs, signal);
    const loaded = new LlamaLoaded({
      facts: {
        ...facts(settings.version, plan, loading, props),
        ...(model.makes === undefined
          ? {}
          : { inputTokens: longestInput(model, loading.contextTokens ?? plan.contextTokens) }),
        process: {
          pid: process.pid,
          build: settings.build,
          threads: settings.threads,
          batchTokens: physicalBatch(model, settings.batch, plan.contextTokens),
        },
      },
      process,
      client,
      exited,
      hasSlotFolder: plan.slotFolder !== undefined,
      makes: model.makes,
      stallMs: settings.stallMs,
      onPrefill: settings.onPrefill,
    });
    settings.log.debug(
      {
        model: model.id,
        pid: process.pid,
        parentDeath: process.parentDeath,
        load: loaded.facts.load,
      },
      "engine ready",
    );
    return loaded;
  } catch (error) {
    await endOf(server);
    throw error;
  }
}

/** @throws LoadError when the server does not answer in time, or not as llama-server does */
async function readProps(
  server: LlamaServer,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  let cause: unknown;
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const answer = await server.client.get("/props", limit);
    if (answer.status === 200 && typeof answer.body === "object" && answer.body !== null) {
      return answer.body as Record<string, unknown>;
    }
  } catch (error) {
    cause = error;
  }
  signal.throwIfAborted();
  const exit = await endOf(server);
  throw new LoadError(
    exit ?? {
      kind: "failed",
      message: NO_PROPS,
      code: null,
      signal: null,
      log: server.process.lastLines(),
    },
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
