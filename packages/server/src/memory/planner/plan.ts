import {
  type Candidate,
  type EvictionReason,
  keptWarm,
  lossOf,
  rankOf,
} from "../eviction/index.js";
import { Book } from "./book.js";
import type { Budgets } from "./budgets.js";
import { type Ladder, ladderOf } from "./ladder.js";
import { Layouts } from "./layout.js";
import { ModelBytes } from "./model-bytes.js";
import { lossOfResident, reloadMs, slowerMs, transferMs, wantedRate } from "./price.js";
import { reasonOfPlan } from "./reason.js";
import { refusal } from "./refusal.js";
import { type Found, search } from "./search.js";
import type { Costs, Plan, Refusal, Resident, Victim, Wanted } from "./terms.js";

/** A pool context is a multiple of this, as the engine rounds it. */
const CONTEXT_GRAIN = 256;

/**
 * Where a model can be loaded now, who has to go for it and what that costs; or why it cannot be. Tried in
 * this order: whole on the devices; experts on the host where the model's settings allow it; a part of the
 * layers on the host; all that with no more context than the request needs; the CPU alone.
 * Idle models of at most the model's priority go when nothing fits otherwise, or when that makes the
 * placement whole for less than a worse one costs.
 *
 * Pure: the same arguments give the same plan. `residents` may contain the model itself: its engine is
 * then the one to be replaced.
 */
export function plan(
  budgets: Budgets,
  residents: readonly Resident[],
  wanted: Wanted,
  costs: Costs,
): Plan | Refusal {
  const bytes = new ModelBytes(wanted);
  const ladder = ladderOf(wanted, bytes, {
    devices: budgets.devices.length,
    unified: budgets.unified,
  });
  const task: Task = {
    budgets,
    wanted,
    costs,
    bytes,
    ladder,
    layouts: new Layouts(bytes, wanted, budgets),
  };
  const others = residents.filter((one) => one.model !== wanted.model);
  const ownPages = residents.find((one) => one.model === wanted.model && one.keptBytes > 0);
  if (ownPages) {
    const kept = {
      ...ownPages,
      held: "claimed" as const,
      deviceBytes: [],
      hostBytes: 0,
      mappedBytes: 0,
    };
    const found = planWith(task, [...others, kept], false);
    if (found) return found;
  }
  const found = planWith(task, others, ownPages !== undefined);
  if (found) return found;
  const uncapped = { ...budgets, processMemoryCapBytes: null };
  const capped =
    budgets.processMemoryCapBytes !== null &&
    planWith({ ...task, budgets: uncapped }, others, false) !== null;
  return refusal({ ...task, residents: others, capped, mayGo: (one) => mayGo(one, wanted) });
}

/** All that stays the same while a plan is made. */
interface Task {
  budgets: Budgets;
  wanted: Wanted;
  costs: Costs;
  bytes: ModelBytes;
  ladder: Ladder;
  layouts: Layouts;
}

function planWith(
  task: Task,
  residents: readonly Resident[],
  releasesOwnPages: boolean,
): Plan | null {
  const { budgets, wanted, costs, bytes, ladder, layouts } = task;
  const book = new Book(budgets, residents, wanted);
  const places: number[] = [];
  const candidates: Candidate[] = [];
  const tier2Free = tier2FreeBytes(budgets, residents);
  const warm = withPages(residents);
  for (let i = 0; i < residents.length; i++) {
    const one = residents[i]!;
    if (!mayGo(one, wanted)) continue;
    places.push(i);
    candidates.push(candidateOf(one, tier2Free, warm.has(one.model), costs));
  }
  const rate = wantedRate(costs.models.get(wanted.model));
  const found = search({
    layouts,
    ladder,
    book,
    candidates,
    places,
    contexts: contextsOf(wanted),
    priceOf: (step) => slowerMs(bytes, step, wanted, budgets) * rate,
  });
  if (!found) return null;

  const leaving = found.victims.map((victim) => residents[places[victim]!]!);
  const reason = leaving.length > 0 ? evictionReason(task, residents, found) : "memory_budget";
  for (const victim of found.victims) book.remove(places[victim]!);
  const victims = destinations(task, found, book, leaving, reason, residents);
  const contextTokens = grownContext(task, found, book);
  const placement = layouts.place(found.step, contextTokens, book)!;
  let lossMsPerMinute = 0;
  for (const victim of found.victims) lossMsPerMinute += candidates[victim]!.loss;
  const onDevices =
    layouts.weightsOnDevices(found.step) + (found.step.gpuLayers > 0 ? bytes.projectorWeights : 0);
  return {
    accepted: true,
    placement,
    victims,
    releasesOwnPages,
    cost: {
      reloadMs: victims.reduce((sum, victim) => sum + victim.reloadMs, 0),
      lossMsPerMinute,
      slowerMsPerRequest: slowerMs(bytes, found.step, wanted, budgets),
      transferMs: transferMs(bytes, onDevices, wanted, budgets),
    },
    reason: reasonOfPlan(placement, victims, wanted, budgets, bytes.layers),
  };
}

/** Whether a resident may go for a model: idle, and of no higher priority. */
function mayGo(one: Resident, wanted: Wanted): boolean {
  return wanted.mayEvict && one.held === null && rankOf(one.priority) <= rankOf(wanted.priority);
}

/** The models whose pages are kept already. */
function withPages(residents: readonly Resident[]): Set<string> {
  const warm = new Set<string>();
  for (const { model, keptBytes } of residents) if (keptBytes > 0) warm.add(model);
  return warm;
}

function candidateOf(one: Resident, tier2Free: number, hasPages: boolean, costs: Costs): Candidate {
  let bytes = Math.max(1, one.hostBytes + one.keptBytes);
  for (const on of one.deviceBytes) bytes += on;
  const tier2Holds = hasPages || (one.keepWarm && one.artifactBytes <= tier2Free);
  const cost = costs.models.get(one.model);
  return {
    rank: rankOf(one.priority),
    loss: lossOfResident(one, tier2Holds, cost, costs.bandwidths),
    bytes,
  };
}

function contextsOf({ contextTokens, firmContextTokens, leastContextTokens }: Wanted): number[] {
  const least = Math.min(leastContextTokens, contextTokens);
  const firm = Math.min(contextTokens, Math.max(firmContextTokens, least));
  return firm > least ? [firm, least] : [firm];
}

/** Free for kept models, whatever else the host's memory is used for. */
function tier2FreeBytes(budgets: Budgets, residents: readonly Resident[]): number {
  let free = budgets.tier2Bytes;
  for (const one of residents) free -= one.keptBytes;
  return free;
}

function evictionReason(task: Task, residents: readonly Resident[], found: Found): EvictionReason {
  if (found.toBeWhole) return "full_gpu_placement";
  const { budgets, layouts, wanted } = task;
  if (budgets.processMemoryCapBytes === null) return "memory_budget";
  const uncapped = new Book({ ...budgets, processMemoryCapBytes: null }, residents, wanted);
  return layouts.fits(found.step, found.contextTokens, uncapped)
    ? "process_memory_cap"
    : "memory_budget";
}

/** Sends the victims to tier 2 where the layout still fits beside them, else to disk. */
function destinations(
  task: Task,
  found: Found,
  book: Book,
  leaving: readonly Resident[],
  reason: EvictionReason,
  residents: readonly Resident[],
): Victim[] {
  const { costs, layouts, budgets } = task;
  const stay = residents.filter((one) => !leaving.includes(one));
  const withTheirs = withPages(stay);
  const warm = keptWarm(
    leaving.map((one) => ({
      keptBytes: one.artifactBytes,
      keepWarm: one.keepWarm && one.tier === "tier1_gpu_vram" && !withTheirs.has(one.model),
      loss: lossOf(
        reloadMs(one, "tier3_nvme_ssd", costs.models.get(one.model), costs.bandwidths),
        costs.models.get(one.model)?.expectedPerMinute ?? 0,
      ),
    })),
    tier2FreeBytes(budgets, stay),
    (index) => {
      const { artifact, artifactBytes } = leaving[index]!;
      book.keep(artifact, artifactBytes, artifactBytes);
      // Where more is booked than there is, a model on devices may fit and its neighbour's pages not.
      if (book.freeHost >= 0 && layouts.fits(found.step, found.contextTokens, book)) return true;
      book.keep(artifact, artifactBytes, -artifactBytes);
      return false;
    },
  );
  return leaving.map((one, index) => {
    const staysWarm = warm.has(index) || withTheirs.has(one.model);
    const toTier = staysWarm ? "tier2_pinned_ram" : "tier3_nvme_ssd";
    const cost = costs.models.get(one.model);
    return {
      model: one.model,
      from: one.tier,
      reason,
      toTier,
      reloadMs: reloadMs(one, toTier, cost, costs.bandwidths),
    };
  });
}

/** The pool context with what is left over added, up to what was wanted. */
function grownContext({ wanted, layouts }: Task, found: Found, book: Book): number {
  if (layouts.fits(found.step, wanted.contextTokens, book)) return wanted.contextTokens;
  let low = 0;
  let high = Math.floor((wanted.contextTokens - found.contextTokens) / CONTEXT_GRAIN);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const contextTokens = found.contextTokens + middle * CONTEXT_GRAIN;
    if (layouts.fits(found.step, contextTokens, book)) low = middle;
    else high = middle - 1;
  }
  return found.contextTokens + low * CONTEXT_GRAIN;
}
