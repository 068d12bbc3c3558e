import type { MemoryTier, Modality } from "@somnus/contract";
import type { ModelConfig } from "../config/index.js";
import { type GgufSummary, readGguf, readGgufModel } from "../gguf/index.js";
import { toSomnusError } from "../http/errors.js";
import { isThere, type ModelFiles } from "./model-files.js";
import { thinkingOf, toolsOf } from "./template-facts.js";

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
  /** Where it is to be once the server has started. */
  initialTier: MemoryTier;
  weightsPath: string;
  projectorPath: string | null;
  /** Of a split model, all parts together. Null when a file could not be read; `problem` says why. */
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
  /** Who stays when memory is short, and how the model may be laid out over the tiers. */
  memory: {
    priority: ModelConfig["priority"];
    keepWarm: boolean;
    moeOffload: ModelConfig["moe_offload"];
    /** Exactly so many layers with their experts on the host; null: as `moeOffload` says. */
    cpuExpertLayers: number | null;
    /** Null: any share. */
    minGpuLayerRatio: number | null;
    /** Whether the context was set by a person, and is not to be cut. */
    firmContext: boolean;
  };
  /** The projector's header; null without one. */
  projectorGguf: GgufSummary | null;
  sampling: SamplingDefaults;
  /** Whether its vectors may be cut to fewer numbers. */
  matryoshka: boolean;
  /** How it is told of functions; "none": its template has no place for them. */
  tools: "native" | "prompted" | "none";
  /** Whether it thinks before it answers, as far as its template tells. */
  thinking: "never" | "optional" | "always";
}

/** Slots of a text model when its block names none. */
const DEFAULT_SLOTS = 4;
/** The pool context a model gets when its block names none: enough for agents, within reason. */
const DEFAULT_CONTEXT_TOKENS = 32_768;
/** The same of an embedding model, which computes its longest input at once, and for which every token has an output. */
const DEFAULT_INPUT_TOKENS = 2_048;
/** What is assumed when the file does not tell its trained context. */
const UNKNOWN_CONTEXT_TOKENS = 8_192;

/** The one kind of engine that this version runs. */
const RUNNABLE_ENGINE = "ggml_llama";

/**
 * Reads a model's files and settles how it is to be run. A broken or missing file gives a model with a problem.
 */
export async function buildPoolModel(
  block: ModelConfig,
  files: ModelFiles,
  options: { idleUnloadSecs: number; created: number },
): Promise<PoolModel> {
  const { gguf, projectorGguf, problem } = await readFiles(block, files);
  const trained = gguf?.contextLength ?? UNKNOWN_CONTEXT_TOKENS;
  const embeds = block.modality === "embeddings";
  const usual = Math.min(trained, embeds ? DEFAULT_INPUT_TOKENS : DEFAULT_CONTEXT_TOKENS);
  const longestInput = Math.min(block.context_len ?? usual, trained);
  const idleSecs = block.idle_unload_secs ?? options.idleUnloadSecs;
  return {
    id: block.id,
    modality: block.modality,
    modalities: modalitiesOf(block, projectorGguf),
    engine: block.engine,
    created: options.created,
    enabled: block.enabled,
    initialTier: block.initial_tier,
    weightsPath: files.weights ?? "",
    projectorPath: files.projector,
    gguf,
    problem,
    slots: block.slots ?? DEFAULT_SLOTS,
    contextTokens: embeds ? longestInput : (block.context_len ?? usual),
    // The buffers of an embedding model grow with its context, needed or not.
    maxContextTokens: embeds ? longestInput : (block.context_len ?? trained),
    idleUnloadMs: idleSecs === 0 ? Number.POSITIVE_INFINITY : idleSecs * 1_000,
    plan: {
      gpuLayers: block.gpu_layers,
      cpuExpertLayers: block.cpu_expert_layers ?? 0,
      ...(block.threads === undefined ? {} : { threads: block.threads }),
      ...(block.cache_type_k === undefined ? {} : { cacheTypeK: block.cache_type_k }),
      ...(block.cache_type_v === undefined ? {} : { cacheTypeV: block.cache_type_v }),
    },
    memory: {
      priority: block.priority,
      keepWarm: block.keep_warm_in_ram,
      moeOffload: block.moe_offload,
      cpuExpertLayers: block.cpu_expert_layers ?? null,
      minGpuLayerRatio: block.min_gpu_layer_ratio ?? null,
      firmContext: block.context_len !== undefined,
    },
    projectorGguf,
    matryoshka: block.matryoshka === true,
    tools: block.tools === "prompted" ? "prompted" : toolsOf(gguf?.chatTemplate ?? null),
    thinking: thinkingOf(gguf?.chatTemplate ?? null),
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

/** What it is configured for, and what its projector brings: seeing, hearing. Vectors are made of texts only. */
function modalitiesOf(block: ModelConfig, projectorGguf: GgufSummary | null): Modality[] {
  const modalities = new Set([block.modality, ...block.additional_modalities]);
  const projector = projectorGguf?.projector;
  if (projector && !modalities.has("embeddings")) {
    if (projector.vision) modalities.add("vision");
    if (projector.audio) modalities.add("speech_to_text");
  }
  return [...modalities];
}

const NOT_READ = { gguf: null, projectorGguf: null };

async function readFiles(
  block: ModelConfig,
  files: ModelFiles,
): Promise<Pick<PoolModel, "gguf" | "projectorGguf" | "problem">> {
  if (block.engine !== RUNNABLE_ENGINE) {
    return { ...NOT_READ, problem: `this version has no engine for ${block.engine}.` };
  }
  if (files.weights === null) return { ...NOT_READ, problem: files.remedy };
  try {
    const gguf = await readGgufModel(files.weights);
    const projectorGguf = files.projector === null ? null : await readGguf(files.projector);
    return { gguf, projectorGguf, problem: null };
  } catch (error) {
    const { message } = toSomnusError(error);
    // A file that is there and wrong has its own remedy in the message.
    return {
      ...NOT_READ,
      problem: (await isThere(files)) ? message : `${message} ${files.remedy}`,
    };
  }
}
