import type { GenerationEvent, GenerationRequest } from "../formats/index.js";
import type { GgufSummary } from "../gguf/index.js";

/** A model as an engine needs to know it. Paths are absolute. */
export interface ModelSpec {
  id: string;
  weightsPath: string;
  projectorPath?: string;
  gguf: GgufSummary;
  projectorGguf?: GgufSummary;
  /** What it is run for, and for nothing else: vectors of texts, or how well texts fit a query. Absent: text. */
  makes?: "vectors" | "ranks";
}

/** How a model is to be loaded; decided above the engines. */
export interface LoadPlan {
  /** Parallel execution places. */
  slots: number;
  /** Pool context: tokens of KV memory shared by all slots. */
  contextTokens: number;
  /** Layers on the accelerator; "auto" puts all there when the engine has one. */
  gpuLayers: number | "auto";
  /** Layers on each of several accelerators, in their order; absent: the engine spreads them. */
  layersOnDevice?: number[];
  /** Layers whose expert tensors stay in host memory, counted from the last. */
  cpuExpertLayers: number;
  /** Compute threads; absent: the engine's room decides from the machine. */
  threads?: number;
  cacheTypeK?: string;
  cacheTypeV?: string;
  /** Folder into which slots can be saved; absent: they cannot. */
  slotFolder?: string;
}

export type LoadPhase = "starting" | "weights" | "projector" | "context" | "warmup" | "ready";

/** Called when a load enters a phase. `percent` is 0 to 100 where the engine tells it. */
export type LoadProgress = (phase: LoadPhase, percent?: number) => void;

/** Buffers by what they hold and where they are, as an engine names them; bytes. */
export type EngineBuffers = Record<
  "weights" | "kv" | "compute" | "output",
  { device: number; host: number }
>;

/** The process of a loaded model and what its memory depends on, for whoever measures it from outside. */
export interface EngineProcess {
  pid: number;
  /** The program's version and digest. */
  build: string;
  /** Compute threads. */
  threads: number;
  /** Prompt tokens that it computes at once. */
  batchTokens: number;
}

/** What was measured while loading. Unmeasured is absent. Durations in ms, sizes in bytes. */
export interface LoadFacts {
  loadMode: "mmap" | "read";
  totalMs: number;
  weightsMs?: number;
  projectorMs?: number;
  contextMs?: number;
  /** Layers that the engine put on the accelerator. */
  gpuLayers?: number;
  vramWeightBytes?: number;
  vramKvAndWorkspaceBytes?: number;
  hostWeightBytes?: number;
  buffers?: EngineBuffers;
}

/** What a loaded model and its engine are. */
export interface EngineFacts {
  /** For example "llama.cpp 11434". */
  version: string;
  slots: number;
  contextTokens: number;
  load: LoadFacts;
  template: { systemRole: boolean; tools: boolean; reasoning: boolean };
  process?: EngineProcess;
  /** Most tokens of one input, its frame included; absent unless it is run for vectors or ranks. */
  inputTokens?: number;
}

/** `timed_out`: it was ended because it did not get ready in time. */
export type ExitKind =
  | "closed"
  | "out_of_memory"
  | "bad_file"
  | "missing_library"
  | "signal"
  | "timed_out"
  | "failed";

/** Why an engine process ended. `log` is the tail of what it printed, for the server's log only. */
export interface ExitReason {
  kind: ExitKind;
  /** For people; carries no path and no internal of the engine's build. */
  message: string;
  code: number | null;
  signal: string | null;
  log: string[];
}

/** Keeping what slots hold in files of the plan's `slotFolder`. A slot that is at work is waited for. */
export interface SlotFiles {
  /**
   * Writes what a slot holds; the file may be there already. It can be incomplete even so: compare its length.
   * @throws SomnusError
   */
  save(slot: number, file: string, signal: AbortSignal): Promise<{ tokens: number; bytes: number }>;
  /**
   * Reads what was saved into a slot; when that fails the slot is empty. Only for files that are known to be
   * whole: a cut one ends the engine.
   * @throws SomnusError
   */
  restore(slot: number, file: string, signal: AbortSignal): Promise<{ tokens: number }>;
  /** Empties a slot. @throws SomnusError */
  erase(slot: number, signal: AbortSignal): Promise<void>;
}

/** Token ids that stand before and after each text of a model. */
export interface TokenFrame {
  before: readonly number[];
  after: readonly number[];
}

/** What a model says of some texts and a query: scores in the order of the texts, and the tokens of all pairs. */
export interface Ranks {
  scores: number[];
  tokens: number;
}

/** One loaded model. Owns its process; nothing above knows processes or sockets. */
export interface Loaded {
  readonly facts: EngineFacts;
  /**
   * Generates one answer in a slot; with `choices` above one, the choices follow each other in that slot.
   * Ends early when the signal fires: the slot is free at the next token or prefill batch.
   * @throws SomnusError
   */
  generate(
    request: GenerationRequest,
    slot: number,
    signal: AbortSignal,
  ): AsyncIterable<GenerationEvent>;
  /**
   * Token ids of texts, in their order, without those of the model's frame; special tokens in a text are plain text.
   * @throws SomnusError
   */
  tokenize(texts: readonly string[], signal: AbortSignal): Promise<number[][]>;
  /** The special tokens that the model has around a text. @throws SomnusError */
  frame(signal: AbortSignal): Promise<TokenFrame>;
  /** The text of token ids that are all in the vocabulary. @throws SomnusError */
  detokenize(tokens: readonly number[], signal: AbortSignal): Promise<string>;
  /** Exact prompt tokens of a request, template included. */
  count(request: GenerationRequest, signal: AbortSignal): Promise<number>;
  /**
   * The vectors of inputs, in their order, of length 1. Each is given as ids with the model's special tokens, and
   * is no longer than the context; together they hold no more either. Absent unless it is run for vectors.
   * @throws SomnusError
   */
  embed?(inputs: readonly (readonly number[])[], signal: AbortSignal): Promise<Float32Array[]>;
  /**
   * How well each text fits a query, as the model says it: more is better. Absent unless it is run for ranks.
   * @throws SomnusError
   */
  rank?(query: string, texts: readonly string[], signal: AbortSignal): Promise<Ranks>;
  /** Absent when its plan named no folder for them. */
  readonly slotFiles?: SlotFiles;
  /** Resolves once, whatever ended the process. */
  readonly exited: Promise<ExitReason>;
  /** Resolves when the process is gone. "drain" lets it end by itself for a short while first. */
  close(how: "drain" | "now"): Promise<void>;
}

/** A failed load, with why, so that the caller can tell a broken file from a bad moment. */
export class LoadError extends Error {
  override readonly name = "LoadError";
  constructor(
    readonly exit: ExitReason,
    options?: ErrorOptions,
  ) {
    super(exit.message, options);
  }
}

/** The code that runs one kind of model. */
export interface Engine {
  readonly kind: string;
  /**
   * Devices that the program computes with, by its own names ("CUDA0"); empty: the processor alone.
   * @throws SomnusError when there is no program yet
   */
  devices(): Promise<string[]>;
  /**
   * Version and digest of the program: another build may need other memory.
   * @throws SomnusError when there is no program yet
   */
  build(): Promise<string>;
  /** Compute threads of a load that names none. */
  threads(): Promise<number>;
  /** Prompt tokens that the model's next load will compute at once: what its buffers are sized for. */
  batchTokens(model: ModelSpec, accelerated: boolean, contextTokens: number): number;
  /**
   * Starts a process and resolves when it can serve.
   * @throws LoadError when the engine ends or hangs while loading
   * @throws SomnusError `model_unavailable` when the plan cannot be carried out with this model
   * @throws the signal's reason when it fires first; the process is gone by then
   */
  load(model: ModelSpec, plan: LoadPlan, on: LoadProgress, signal: AbortSignal): Promise<Loaded>;
}
