import {
  type Booking,
  type Budgets,
  type Costs,
  expectedPerMinute,
  type ModelCost,
  type Plan,
  type Refusal,
  type Resident,
  type Wanted,
} from "../../memory/index.js";
import { parkedBytes } from "../parking/parked-bytes.js";
import type { MemoryState, MemoryTerms } from "../state/memory-terms.js";
import type { ModelState, SchedulerState } from "../state/state.js";
import { firstOf, impatientAt, mayBeStopped, runningOn, wantedTurn } from "../state/waiting.js";
import { type Demand, isSpared } from "../turns/demand.js";

/** What a plan for the model is made of. `leastContextTokens`: what its first request needs. */
export function wantedOf(
  model: ModelState,
  terms: MemoryTerms,
  least: number,
  demand: Demand,
): Wanted {
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
    tier: model.pages.phase === "kept" ? "tier2_pinned_ram" : "tier3_nvme_ssd",
    mayEvict: demand !== "nobody",
  };
}

const NOWHERE: readonly number[] = [];

/**
 * The models that hold memory, and which of them may not go for `wanted` now. With `everybodyLeaves`
 * as it will be when those that run and wait have gone.
 */
export function residentsFor(
  state: SchedulerState,
  wanted: ModelState,
  at: number,
  demand: Demand,
  everybodyLeaves = false,
): Resident[] {
  const turn = wantedTurn(state, wanted);
  const impatient = at >= impatientAt(state, wanted);
  const residents: Resident[] = [];
  for (const model of state.models.values()) {
    const { placement, pages, terms } = model;
    if (terms.memory === undefined || (placement === null && pages.bytes === 0)) continue;
    // Of every model for every plan: literals of one shape, because spreading costs many times as much.
    const { artifact, artifactBytes, priority, keepWarm } = terms.memory;
    const stays = keptFrom(model, demand, at);
    const held = (everybodyLeaves ? null : holdOf(state, model, turn, impatient)) ?? stays;
    if (placement !== null && model !== wanted) {
      residents.push({
        model: terms.id,
        artifact,
        artifactBytes,
        tier: "tier1_gpu_vram",
        priority,
        held,
        keepWarm,
        deviceBytes: placement.deviceBytes,
        hostBytes: placement.hostBytes,
        mappedBytes: placement.mappedBytes,
        keptBytes: 0,
      });
    }
    if (pages.bytes > 0) {
      residents.push({
        model: terms.id,
        artifact,
        artifactBytes,
        tier: "tier2_pinned_ram",
        priority,
        held: everybodyLeaves ? stays : holdOfPages(model, held),
        keepWarm,
        deviceBytes: NOWHERE,
        hostBytes: 0,
        mappedBytes: 0,
        keptBytes: pages.bytes,
      });
    }
  }
  return residents;
}

/** The engine of a loaded model needs no kept pages; those of another one have the claims that the model has. */
function holdOfPages({ phase, pages }: ModelState, held: Resident["held"]): Resident["held"] {
  if (pages.phase === "leaving") return "leaving";
  return phase === "ready" || phase === "unloading" ? null : held;
}

/**
 * What is booked for models, that of those that come and go included, and for parked conversations; what the
 * engine of `without` holds left out.
 */
export function bookingsOf(state: SchedulerState, without: ModelState | null = null): Booking[] {
  const bookings = [...state.models.values()].flatMap((model): Booking[] => {
    const { terms, pages } = model;
    const placement = model === without ? null : model.placement;
    if (terms.memory === undefined || (placement === null && pages.bytes === 0)) return [];
    const { artifact, artifactBytes } = terms.memory;
    const { deviceBytes, hostBytes, mappedBytes } = placement ?? NOTHING;
    const keptBytes = pages.bytes;
    return [{ artifact, artifactBytes, deviceBytes, hostBytes, mappedBytes, keptBytes }];
  });
  const parked = parkedBytes(state);
  if (parked > 0) {
    bookings.push({ ...NOTHING, artifact: "", artifactBytes: 0, hostBytes: parked, keptBytes: 0 });
  }
  return bookings;
}

const NOTHING = { deviceBytes: [], hostBytes: 0, mappedBytes: 0 };

/** Whom no waiting helps against: the pinned, and what background work has to leave where it is. */
function keptFrom(model: ModelState, demand: Demand, at: number): Resident["held"] {
  if (model.pinned) return "pinned";
  return demand !== "any" && isSpared(model, at) ? "spared" : null;
}

/** A request whose turn is before `turn` has a claim on its model; a later one has none against an impatient one. */
function holdOf(
  state: SchedulerState,
  model: ModelState,
  turn: number,
  impatient: boolean,
): Resident["held"] {
  if (model.phase === "loading") return mayBeStopped(state, model) ? null : "loading";
  if (model.phase === "unloading") return "leaving";
  if (runningOn(model) > 0) return "leased";
  const head = firstOf(state, model);
  if (head === undefined) return null;
  const isLater = head.turn > turn;
  return impatient && isLater ? null : "claimed";
}

/** Plans what is wanted beside those that hold memory. `budgets`: others than the machine's own. */
export function planFor(
  state: SchedulerState,
  memory: MemoryState,
  wanted: Wanted,
  residents: readonly Resident[],
  at: number,
  budgets: Budgets = memory.budgets,
): Plan | Refusal {
  return memory.plan(budgets, residents, wanted, costsOf(state, memory, at));
}

/** What the loss of a model costs; told of those that are asked for, which most residents are not. */
function costsOf(state: SchedulerState, { budgets }: MemoryState, at: number): Costs {
  const get = (id: string): ModelCost => {
    // One that nobody has asked for yet is not there.
    const model = state.models.get(id);
    return {
      expectedPerMinute: expectedPerMinute(model?.use ?? null, at),
      reloadMs: { fromTier2: model?.warmReloadMs ?? null, fromTier3: model?.reloadMs ?? null },
    };
  };
  return { models: { get }, bandwidths: budgets.bandwidths };
}
