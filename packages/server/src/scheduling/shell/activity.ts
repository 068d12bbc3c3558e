import type { Loaded } from "../../engines/index.js";
import { type MemoryTier, type Placement, requestsPerMinute } from "../../memory/index.js";
import type { MemoryTerms } from "../state/memory-terms.js";
import type { ModelPhase, ModelState } from "../state/state.js";
import { tierOf } from "../state/tier-of.js";
import { isWanted, runningOn } from "../state/waiting.js";
import { accuracyOf, type WaitAccuracy } from "../waits/wait-scores.js";

/** What a model does now; for lists and status, never to decide on. */
export interface ModelActivity {
  phase: ModelPhase;
  activeLeases: number;
  queued: number;
  /** The engine's facts while the model is ready. */
  facts: Loaded["facts"] | null;
  /** Why the last load failed, until one works. */
  failure: string | null;
  /** What is booked for it; null while it is not loaded, or when memory is not planned. */
  placement: Placement | null;
  tier: MemoryTier;
  /** Its weights in tier 2, whether it is loaded or not; null while nothing of them is held. Bytes. */
  kept: { phase: "coming" | "kept" | "leaving"; bytes: number } | null;
  /** Of its weights, kept now. */
  keptBytes: number;
  /** Why its weights could not be kept the last time, or no longer; null when all is well. */
  keepProblem: string | null;
  /** Wanted, and waiting for others to make room. */
  waitsForMemory: boolean;
  /** Exempt from idle unloading and from making room. */
  pinned: boolean;
  /** Where its experts run from its next load on; null before anybody wanted it. */
  moeOffload: MemoryTerms["moeOffload"] | null;
  /** Decayed over ten minutes. */
  requestsPerMinute: number;
  /** Requests answered since the server started. */
  served: number;
  /** Since its last use, ms; 0 while it is in use, null when it was never loaded. */
  idleMs: number | null;
  /** How long its last load from disk took, and from tier 2, ms; null before the first. */
  reloadMs: number | null;
  warmReloadMs: number | null;
  /** Average time that a request holds a slot, ms; null before the first has ended. */
  serviceMs: number | null;
  /** How good such estimates were; null before the first wait. */
  waitAccuracy: WaitAccuracy | null;
}

/**
 * What a model does.
 * @param model undefined: nobody has asked for it yet
 * @param loaded its engine, when it has one that can serve
 */
export function activityOf(
  model: ModelState | undefined,
  loaded: Loaded | null,
  at: number,
): ModelActivity {
  return {
    phase: model?.phase ?? "unloaded",
    activeLeases: model ? runningOn(model) : 0,
    queued: model?.queue.length ?? 0,
    facts: model?.phase === "ready" ? (loaded?.facts ?? null) : null,
    failure: model?.failure?.message ?? null,
    placement: model?.placement ?? null,
    tier: tierOf(model),
    kept: model === undefined ? null : keptOf(model),
    keptBytes: model === undefined ? 0 : keptBytesOf(model),
    keepProblem: model?.pages.problem?.message ?? null,
    waitsForMemory: model !== undefined && isWanted(model) && model.waitsForMemory,
    pinned: model?.pinned ?? false,
    moeOffload: model?.terms.memory?.moeOffload ?? null,
    requestsPerMinute: requestsPerMinute(model?.use ?? null, at),
    served: model?.served ?? 0,
    idleMs: model === undefined ? null : idleMs(model, at),
    reloadMs: model?.reloadMs ?? null,
    warmReloadMs: model?.warmReloadMs ?? null,
    serviceMs: model?.times.all?.mean ?? null,
    waitAccuracy: model === undefined ? null : accuracyOf(model.scores),
  };
}

/** Of a model's weights, held in tier 2; bytes. */
export function keptBytesOf({ pages }: ModelState): number {
  return pages.phase === "kept" ? pages.bytes : 0;
}

function keptOf({ pages }: ModelState): ModelActivity["kept"] {
  return pages.phase === "out" ? null : { phase: pages.phase, bytes: pages.bytes };
}

function idleMs(model: ModelState, at: number): number | null {
  if (model.usedAt === null) return null;
  return runningOn(model) > 0 ? 0 : at - model.usedAt;
}
