import { createHash } from "node:crypto";
import { CONTEXT_CHECKPOINTS, type Engine, type ModelSpec, threadsOf } from "./engines/index.js";
import {
  type Estimate,
  type EstimateOptions,
  estimate,
  type LoadKey,
  type Machine,
  settingsKey,
  type Want,
} from "./memory/index.js";
import type { PoolModel } from "./models/index.js";
import type { MemoryTerms } from "./scheduling/index.js";

/** What estimates rest on beside the model: the machine, and the engine that the next load takes. */
export interface Grounds {
  machine: Machine;
  /** Compute threads of a load that names none. */
  threads: number;
  /** Version and digest of the program; null before one is here. */
  build: string | null;
}

/** A load whose memory is to be told. */
export interface LoadShape {
  spec: Pick<ModelSpec, "gguf" | "projectorGguf" | "makes">;
  want: Want;
  threads: number;
  /** Devices of the machine that may hold layers. */
  devices: number;
  /** Layers on them. */
  gpuLayers: number;
  cpuExpertLayers: number;
}

/** What loads have shown of the memory that they need. */
export interface Corrections {
  /** An estimate by the formulas with what loads have shown. */
  corrected(estimated: Estimate, key: LoadKey): Estimate;
  /** Another number when loads have shown more. */
  readonly revision: number;
}

/** Pool context that agents need: worth a placement that is not whole on a device. */
const FIRM_CONTEXT_TOKENS = 8_192;

/** What the planner must know of a model of the pool. `grounds` are asked at every estimate, and cost nothing. */
export function memoryTermsOf(
  model: PoolModel & { gguf: NonNullable<PoolModel["gguf"]> },
  spec: ModelSpec,
  engine: Pick<Engine, "batchTokens">,
  grounds: () => Grounds | null,
  corrections: Corrections,
): MemoryTerms {
  const { gguf, memory, plan } = model;
  const estimates = new Map<number, KeptEstimate>();
  return {
    artifact: model.weightsPath,
    // Of whole files, which is what is held of them in tier 2.
    artifactBytes: gguf.fileBytes + (model.projectorGguf?.fileBytes ?? 0),
    readFrom: gguf,
    priority: memory.priority,
    keepWarm: memory.keepWarm,
    estimate(contextTokens) {
      const now = grounds();
      const { revision } = corrections;
      const isAccelerated = (now?.machine.devices.length ?? 0) > 0;
      const batchTokens = engine.batchTokens(spec, isAccelerated, contextTokens);
      const last = estimates.get(contextTokens);
      if (
        last !== undefined &&
        last.grounds === now &&
        last.revision === revision &&
        last.batchTokens === batchTokens
      ) {
        return last.estimate;
      }
      const load = wantedShape(model, spec, contextTokens, now, batchTokens);
      const estimated = estimateOf(load);
      const build = now?.build ?? null;
      const estimate =
        build === null ? estimated : corrections.corrected(estimated, keyOf(load, build));
      keep(estimates, contextTokens, { grounds: now, revision, batchTokens, estimate });
      return estimate;
    },
    firmContextTokens: memory.firmContext ? model.contextTokens : FIRM_CONTEXT_TOKENS,
    gpuLayers: plan.gpuLayers,
    moeOffload: memory.moeOffload,
    cpuExpertLayers: memory.cpuExpertLayers,
    minGpuLayerRatio: memory.minGpuLayerRatio,
    activeExpertShare:
      gguf.experts && gguf.expertsUsed ? Math.min(1, gguf.expertsUsed / gguf.experts) : null,
  };
}

/** The model as its engine knows it. */
export function specOf(model: PoolModel & { gguf: NonNullable<PoolModel["gguf"]> }): ModelSpec {
  const { id, weightsPath, gguf, projectorPath, projectorGguf } = model;
  return {
    id,
    weightsPath,
    gguf,
    ...(projectorPath === null ? {} : { projectorPath }),
    ...(projectorGguf === null ? {} : { projectorGguf }),
    ...(model.modality === "embeddings"
      ? { makes: gguf.pooling === "rank" ? "ranks" : "vectors" }
      : {}),
  };
}

/** The load that is hoped for: with all layers on devices that may go there. */
function wantedShape(
  model: Pick<PoolModel, "slots" | "plan" | "memory">,
  spec: ModelSpec,
  contextTokens: number,
  grounds: Grounds | null,
  batchTokens: number,
): LoadShape {
  const { plan, memory } = model;
  const { gguf } = spec;
  const devices = grounds?.machine.devices.length ?? 0;
  const layers = gguf.layers ?? gguf.layout.layers.length;
  const isUsable = devices > 0 && plan.gpuLayers !== 0;
  const experts = memory.cpuExpertLayers ?? (memory.moeOffload === "on" ? layers : 0);
  return {
    spec,
    want: {
      contextTokens,
      slots: model.slots,
      batchTokens,
      ...(spec.makes === undefined ? {} : { vectors: true }),
      ...(plan.cacheTypeK === undefined ? {} : { cacheTypeK: plan.cacheTypeK }),
      ...(plan.cacheTypeV === undefined ? {} : { cacheTypeV: plan.cacheTypeV }),
    },
    threads: plan.threads ?? threadsOf(spec, grounds?.threads ?? 1),
    devices,
    gpuLayers: !isUsable ? 0 : plan.gpuLayers === "auto" ? layers : plan.gpuLayers,
    cpuExpertLayers: isUsable && gguf.expertBytes > 0 ? experts : 0,
  };
}

/** The last estimate for a context, and what it rests on. One decision asks for the same ones again and again. */
interface KeptEstimate {
  grounds: Grounds | null;
  revision: number;
  batchTokens: number;
  estimate: Estimate;
}

/** Estimates that are kept for one model: its contexts and batches are few. */
const KEPT_ESTIMATES = 32;
const kept = new WeakMap<object, Map<string, Estimate>>();

/** The estimate of a load by the formulas. It takes a millisecond the first time, so it is kept. */
export function estimateOf(load: LoadShape): Estimate {
  const { spec, want, devices, threads } = load;
  const { gguf, projectorGguf } = spec;
  const key = JSON.stringify([want, devices, threads, projectorGguf?.fileBytes ?? 0]);
  const ofModel = kept.get(gguf) ?? new Map<string, Estimate>();
  kept.set(gguf, ofModel);
  const known = ofModel.get(key);
  if (known !== undefined) return known;
  const options: EstimateOptions = {
    devices,
    checkpoints: CONTEXT_CHECKPOINTS,
    threads,
    ...(projectorGguf === undefined ? {} : { projector: projectorGguf }),
  };
  const estimated = estimate(gguf, want, options);
  keep(ofModel, key, estimated);
  return estimated;
}

/** Adds to what is kept; the oldest goes for it. */
function keep<Key, Value>(kept: Map<Key, Value>, key: Key, value: Value): void {
  if (kept.size >= KEPT_ESTIMATES && !kept.has(key)) kept.delete(kept.keys().next().value as Key);
  kept.set(key, value);
}

/** What a measurement of a load is found again by. */
export function keyOf(load: LoadShape, engineBuild: string): LoadKey {
  const { spec, want, threads, gpuLayers, cpuExpertLayers } = load;
  const projector = spec.projectorGguf !== undefined;
  return {
    modelDigest: digestOf(spec),
    engineBuild,
    settings: settingsKey({ ...want, gpuLayers, cpuExpertLayers, projector, threads }),
  };
}

const digests = new WeakMap<object, string>();

/**
 * Stands for the weights as far as memory goes: a digest of what the headers of their files say. Two files
 * with the same one need the same memory, and no gigabytes have to be read for it.
 */
function digestOf({ gguf, projectorGguf }: LoadShape["spec"]): string {
  let digest = digests.get(gguf);
  if (digest === undefined) {
    const said = JSON.stringify([gguf, projectorGguf ?? null]);
    digest = createHash("sha256").update(said).digest("hex");
    digests.set(gguf, digest);
  }
  return digest;
}
