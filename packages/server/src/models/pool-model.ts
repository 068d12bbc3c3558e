import { resolve } from "node:path";
import type { Modality } from "@somnus/contract";
import type { ModelConfig } from "../config/index.js";
import { type GgufSummary, readGguf } from "../gguf/index.js";
import { toSomnusError } from "../http/errors.js";

/** Sampling a model gets where a request says nothing. */
export interface SamplingDefaults {
  temperature?: number;
  topP?: number;
  topK?: number;
  minP?: number;
  repeatPenalty?: number;
}

/** One model of the pool: what it is, where its files are, and how it is to be run. */
export interface PoolModel {
  id: string;
  modality: Modality;
  modalities: Modality[];
  engine: string;
  /** When it joined the pool, Unix seconds. */
  created: number;
  enabled: boolean;
  /** Whether it is loaded at start. */
  preload: boolean;
  weightsPath: string;
  projectorPath: string | null;
  /** Null when the file could not be read; `problem` says why. */
  gguf: GgufSummary | null;
  /** Why the model cannot be served. */
  problem: string | null;
  slots: number;
  contextTokens: number;
  maxContextTokens: number;
  /** Infinity: stays loaded. */
  idleUnloadMs: number;
  plan: {
    gpuLayers: number | "auto";
    cpuExpertLayers: number;
    threads?: number;
    cacheTypeK?: string;
    cacheTypeV?: string;
  };
  sampling: SamplingDefaults;
}

/** Slots of a text model when its block names none. */
const DEFAULT_SLOTS = 4;
/** The pool context a model gets when its block names none: enough for agents, within reason. */
const DEFAULT_CONTEXT_TOKENS = 32_768;
/** What is assumed when the file does not tell its trained context. */
const UNKNOWN_CONTEXT_TOKENS = 8_192;

/** The one kind of engine that this version runs. */
const RUNNABLE_ENGINE = "ggml_llama";

/**
 * Reads a model's file and settles how it is to be run. A broken file gives a model with a problem.
 * `weights`: the file, from the models folder; null when nothing names one.
 */
export async function buildPoolModel(
  block: ModelConfig,
  weights: string | null,
  options: { modelsDir: string; idleUnloadSecs: number; preload: boolean; created: number },
): Promise<PoolModel> {
  const weightsPath = resolve(options.modelsDir, weights ?? "");
  const { gguf, problem } = await readWeights(block, weights, weightsPath);
  const trained = gguf?.contextLength ?? UNKNOWN_CONTEXT_TOKENS;
  const idleSecs = block.idle_unload_secs ?? options.idleUnloadSecs;
  return {
    id: block.id,
    modality: block.modality,
    modalities: [...new Set([block.modality, ...block.additional_modalities])],
    engine: block.engine,
    created: options.created,
    enabled: block.enabled,
    preload: options.preload,
    weightsPath,
    projectorPath: block.aux_path ? resolve(options.modelsDir, block.aux_path) : null,
    gguf,
    problem,
    slots: block.slots ?? DEFAULT_SLOTS,
    contextTokens: block.context_len ?? Math.min(trained, DEFAULT_CONTEXT_TOKENS),
    maxContextTokens: block.context_len ?? trained,
    idleUnloadMs: idleSecs === 0 ? Number.POSITIVE_INFINITY : idleSecs * 1_000,
    plan: {
      gpuLayers: block.gpu_layers,
      cpuExpertLayers: block.cpu_expert_layers ?? 0,
      ...(block.threads === undefined ? {} : { threads: block.threads }),
      ...(block.cache_type_k === undefined ? {} : { cacheTypeK: block.cache_type_k }),
      ...(block.cache_type_v === undefined ? {} : { cacheTypeV: block.cache_type_v }),
    },
    sampling: {
      ...(block.default_temperature === undefined
        ? {}
        : { temperature: block.default_temperature }),
      ...(block.default_top_p === undefined ? {} : { topP: block.default_top_p }),
      ...(block.default_top_k === undefined ? {} : { topK: block.default_top_k }),
      ...(block.default_min_p === undefined ? {} : { minP: block.default_min_p }),
      ...(block.default_repeat_penalty === undefined
        ? {}
        : { repeatPenalty: block.default_repeat_penalty }),
    },
  };
}

async function readWeights(
  block: ModelConfig,
  weights: string | null,
  path: string,
): Promise<Pick<PoolModel, "gguf" | "problem">> {
  if (block.engine !== RUNNABLE_ENGINE) {
    return { gguf: null, problem: `this version has no engine for ${block.engine}.` };
  }
  if (weights === null) {
    return {
      gguf: null,
      problem: "its block has no weights_path, and the catalog does not know it.",
    };
  }
  try {
    return { gguf: await readGguf(path), problem: null };
  } catch (error) {
    return { gguf: null, problem: toSomnusError(error).message };
  }
}
