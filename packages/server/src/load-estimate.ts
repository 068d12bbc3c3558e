import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { LoadPlan } from "@somnus/contract";
import { createArtifacts } from "./artifacts/index.js";
import { type Config, defaultPaths, enginesFolder, filledModel } from "./config/index.js";
import { configuredRun, createLlamaEngine } from "./engines/index.js";
import {
  configuredOrigins,
  createProvisioning,
  type EngineBinary,
} from "./engines/provisioning/index.js";
import { SomnusError } from "./http/errors.js";
import { planOf } from "./inference/index.js";
import { correctionsOf } from "./learned-memory.js";
import { MachineMemory } from "./machine-memory.js";
import { type Budgets, figuresOf, type Machine, QuietProbe } from "./memory/index.js";
import { type Corrections, memoryTermsOf, specOf } from "./model-memory.js";
import { Pool, type PoolModel, readCatalog } from "./models/index.js";
import type { Logger } from "./observe/index.js";
import { type MemoryState, type ModelTerms, previewAlone } from "./scheduling/index.js";
import { openStoreToRead, storeFile } from "./store/index.js";

/** What a load of a model would take, and what there is for it. Sizes in bytes. */
export interface LoadEstimate {
  model: string;
  plan: LoadPlan;
  machine: {
    name: string;
    accelerator: Machine["accelerator"];
    /** Made up by `hardware.simulate`. */
    simulated: boolean;
    /** `free_bytes`: what can be given to a model, without what others use and what is left to the system. */
    devices: { name: string; total_bytes: number; free_bytes: number }[];
    host: { total_bytes: number; free_bytes: number };
    /** What could not be read, for people. */
    problems: string[];
  };
  /** The program that would run it; null while none is installed: then what it computes with is assumed. */
  engine: string | null;
}

/** What is to be estimated. */
export interface EstimateRequest {
  config: Config;
  env: NodeJS.ProcessEnv;
  /** A model's id, or the path of its weights; `cwd` is what a path is relative to. */
  model: string;
  cwd: string;
  /** Pool context, tokens; null: as the model is usually loaded. */
  contextTokens: number | null;
  /** Null: as the model's settings have it. */
  slots: number | null;
  log: Logger;
  signal: AbortSignal;
}

/**
 * How a server that has loaded nothing would load a model, by that server's own estimate and planner. Nothing is
 * loaded, fetched or written.
 * @throws SomnusError `model_not_found`; `model_unavailable` when its file cannot be read; `invalid_request` for a
 * context that it does not have
 */
export async function estimateLoad(request: EstimateRequest): Promise<LoadEstimate> {
  const { config, env, log, signal } = request;
  const found = await findModel(request);
  const model = { ...found, slots: request.slots ?? found.slots };
  const binary = await installedEngine(config, env, log, signal);
  const engine = createLlamaEngine({
    binary: async () => {
      if (binary === null) throw new SomnusError("model_unavailable", "There is no engine yet.");
      return binary;
    },
    runtimeDir: defaultPaths(env).runtime_dir,
    ...configuredRun(config),
    log,
  });
  const { memory, state } = await measuredMemory(request, engine);
  try {
    const corrections = await knownCorrections(config);
    const terms: ModelTerms = {
      id: model.id,
      slots: model.slots,
      contextTokens: model.contextTokens,
      maxContextTokens: model.maxContextTokens,
      idleUnloadMs: model.idleUnloadMs,
      memory: memoryTermsOf(model, specOf(model), engine, () => memory.grounds(), corrections),
    };
    const preview = (of: { terms: ModelTerms }, context: number | null) =>
      previewAlone(state, of.terms, context);
    const plan = planOf({ preview }, { terms }, request.contextTokens);
    const { machine } = memory.grounds()!;
    return {
      model: model.id,
      plan,
      machine: machineOf(machine, state.budgets),
      engine: binary?.version ?? null,
    };
  } finally {
    await memory.close();
  }
}

/** The engine that is on this machine already; one that cannot be used counts as none. */
async function installedEngine(
  config: Config,
  env: NodeJS.ProcessEnv,
  log: Logger,
  signal: AbortSignal,
): Promise<EngineBinary | null> {
  const provisioning = createProvisioning({
    cacheDir: enginesFolder(config),
    ...configuredOrigins(config.engines.llama),
    env,
    artifacts: createArtifacts({ env }),
    log,
  });
  try {
    return await provisioning.provideInstalled(signal);
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error }, "the engine cannot be used");
    return null;
  }
}

/** What loads are planned with on this machine now, with the speeds that a server has kept. */
async function measuredMemory(
  { config, env, log, signal }: EstimateRequest,
  engine: ReturnType<typeof createLlamaEngine>,
): Promise<{ memory: MachineMemory; state: MemoryState }> {
  const speeds: QuietProbe = new QuietProbe({
    machine: () => memory.grounds()?.machine ?? null,
    folder: config.pool.models_dir,
    cacheDir: config.paths.cache_dir,
    isQuiet: () => false,
    onMeasured: () => {},
    onFailure: (error) => log.warn({ err: error }, "the speed of the disk or of memory"),
  });
  const memory: MachineMemory = new MachineMemory({
    config,
    engine,
    bandwidths: () => speeds.latest(),
    env,
    log,
  });
  try {
    const state = await memory.measure(() => [], signal);
    await speeds.recall();
    const isKnown = Object.values(speeds.latest()).some((speed) => speed !== null);
    return { memory, state: isKnown ? await memory.measure(() => [], signal) : state };
  } catch (error) {
    await memory.close();
    throw error;
  } finally {
    await speeds.close();
  }
}

/** What servers have learned of models' memory, as far as it can be read. */
async function knownCorrections(config: Config): Promise<Corrections> {
  const uncorrected: Corrections = { revision: 0, corrected: (estimated) => estimated };
  const reader = await openStoreToRead(storeFile(config));
  if (reader === null) return uncorrected;
  try {
    return await correctionsOf(reader);
  } catch {
    return uncorrected;
  } finally {
    reader.close();
  }
}

type ReadModel = PoolModel & { gguf: NonNullable<PoolModel["gguf"]> };

/** A model of the pool, an installed one that the configuration does not name, or a file. */
async function findModel({ config, env, model, cwd }: EstimateRequest): Promise<ReadModel> {
  const catalog = await readCatalog();
  const open = (models: Config["models"]) =>
    new Pool({
      config: { ...config, models },
      modelsDir: config.pool.models_dir,
      catalog,
      artifacts: createArtifacts({ env }),
      modelBlock: filledModel,
      now: () => 0,
    });
  const path = resolve(cwd, model);
  if (/\.gguf$/i.test(model) || (await isFile(path))) {
    const id = basename(path).replace(/\.gguf$/i, "");
    const pool = open([filledModel({ id, weights_path: path })]);
    if (!(await isFile(path)))
      throw new SomnusError(
        "model_not_found",
        `There is no file ${path}. Give the path of a GGUF file, or an id of somnus list.`,
      );
    return asRead(await pool.resolve(id));
  }
  try {
    return asRead(await open(config.models).resolve(model));
  } catch (error) {
    if (!(error instanceof SomnusError) || error.code !== "model_not_found") throw error;
    const other = await open([filledModel({ id: model })]).resolve(model);
    if (other.weightsPath === "") throw error;
    return asRead(other);
  }
}

/** @throws SomnusError model_unavailable */
function asRead(model: PoolModel): ReadModel {
  const { id, gguf, problem } = model;
  if (gguf === null || problem !== null) {
    const why = problem ?? "its file was not read.";
    throw new SomnusError("model_unavailable", `${id} cannot be loaded: ${why}`);
  }
  return { ...model, gguf };
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (file) => file.isFile(),
    () => false,
  );
}

function machineOf(machine: Machine, budgets: Budgets): LoadEstimate["machine"] {
  const ofHost = figuresOf(machine, { ...budgets, devices: [] }, []);
  return {
    name: machine.name,
    accelerator: machine.accelerator,
    simulated: machine.simulated,
    devices: machine.devices.map(({ name, totalBytes }, at) => {
      const { bytes, unaccountedBytes } = budgets.devices[at]!;
      return { name, total_bytes: totalBytes, free_bytes: Math.max(0, bytes - unaccountedBytes) };
    }),
    host: { total_bytes: machine.host.totalBytes, free_bytes: ofHost.tier1.effectiveFreeBytes },
    problems: [...(machine.problems ?? [])],
  };
}
