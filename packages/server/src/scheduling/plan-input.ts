import {
  type Budgets,
  type Costs,
  expectedPerMinute,
  type ModelCost,
  type Resident,
  type Wanted,
} from "../memory/index.js";
import type { MemoryTerms } from "./memory-terms.js";
import type { ModelState, SchedulerState } from "./state.js";
import { PATIENCE_MS, runningOn, wantedSince } from "./waiting.js";

/** What a plan for the model is made of. `leastContextTokens`: what its first request needs. */
export function wantedOf(model: ModelState, terms: MemoryTerms, least: number): Wanted {
  const contextTokens = model.poolTokens;
  const firmContextTokens = Math.min(contextTokens, Math.max(terms.firmContextTokens, least));
  return {
    model: model.terms.id,
    artifact: terms.artifact,
    artifactBytes: terms.artifactBytes,
    priority: terms.priority,
    estimate: terms.estimate(contextTokens),
    contextTokens,
    slots: model.terms.slots,
    firmContextTokens,
    leastContextTokens: least,
    ...(least < contextTokens ? { leastEstimate: terms.estimate(least) } : {}),
    gpuLayers: terms.gpuLayers,
    moeOffload: terms.moeOffload,
    cpuExpertLayers: terms.cpuExpertLayers,
    minGpuLayerRatio: terms.minGpuLayerRatio,
    activeExpertShare: terms.activeExpertShare,
    tier: "tier3_nvme_ssd",
    mayEvict: true,
  };
}

/**
 * The models that hold memory, and which of them may not go for `wanted` now. With `everybodyLeaves`
 * as it will be when those that run and wait have gone.
 */
export function residentsFor(
  state: SchedulerState,
  wanted: ModelState,
  at: number,
  everybodyLeaves = false,
): Resident[] {
  const since = wantedSince(state, wanted);
  const impatient = at >= since + PATIENCE_MS;
  const residents: Resident[] = [];
  for (const model of state.models.values()) {
    const { placement, terms } = model;
    if (placement === null || terms.memory === undefined || model === wanted) continue;
    residents.push({
      model: terms.id,
      artifact: terms.memory.artifact,
      artifactBytes: terms.memory.artifactBytes,
      tier: "tier1_gpu_vram",
      priority: terms.memory.priority,
      held: everybodyLeaves ? null : holdOf(state, model, since, impatient),
      keepWarm: terms.memory.keepWarm,
      deviceBytes: placement.deviceBytes,
      hostBytes: placement.hostBytes,
      mappedBytes: placement.mappedBytes,
      keptBytes: 0,
    });
  }
  return residents;
}

/** A request that came before `since` has a claim on its model; a later one has none against an impatient one. */
function holdOf(
  state: SchedulerState,
  model: ModelState,
  since: number,
  impatient: boolean,
): Resident["held"] {
  if (model.phase === "loading") return "loading";
  if (model.phase === "unloading") return "leaving";
  if (runningOn(model) > 0) return "leased";
  const head = model.queue[0];
  if (head === undefined) return null;
  const isLater = state.requests.get(head)!.arrivedAt > since;
  return impatient && isLater ? null : "claimed";
}

/** What the loss of each of these models costs. */
export function costsOf(
  state: SchedulerState,
  budgets: Budgets,
  wanted: Wanted,
  residents: readonly Resident[],
  at: number,
): Costs {
  const models = new Map<string, ModelCost>();
  const add = (id: string) => {
    const model = state.models.get(id)!;
    models.set(id, {
      expectedPerMinute: expectedPerMinute(model.use, at),
      reloadMs: { fromTier2: null, fromTier3: model.reloadMs },
    });
  };
  add(wanted.model);
  for (const resident of residents) add(resident.model);
  return { models, bandwidths: budgets.bandwidths };
}
