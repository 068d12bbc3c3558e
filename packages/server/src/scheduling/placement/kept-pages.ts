import type { ErrorCode } from "../../http/errors.js";
import { whyNotKept } from "../../memory/index.js";
import { startUnload } from "../decision/grant.js";
import { whyBusy } from "../decision/lifetime.js";
import { modelOf, takeNextTerms } from "../state/model-state.js";
import type {
  EvictedFor,
  ModelState,
  SchedulerEffect,
  SchedulerEvent,
  SchedulerState,
} from "../state/state.js";
import { bookingsOf } from "./plan-input.js";

type KeepEvent<T extends SchedulerEvent["type"]> = Extract<SchedulerEvent, { type: T }>;

/** Somebody wants the model in tier 2: from disk its weights are brought in, an idle engine goes and they stay. */
export function onKeepAsked(
  state: SchedulerState,
  event: KeepEvent<"keepAsked">,
): SchedulerEffect[] {
  const model = modelOf(state, event.terms);
  const { pages } = model;
  const { id } = model.terms;
  const refused = (code: ErrorCode, message: string): SchedulerEffect[] => [
    { type: "keepRefused", model: id, ask: event.ask, code, message },
  ];
  if (state.draining) return refused("shutting_down", "The server is shutting down.");
  const busy = whyBusy(model);
  if (busy !== null) return refused("model_busy", busy);
  if (!isHeld(model)) {
    const shortage = shortageOf(state, model);
    if (shortage !== null) return refused("insufficient_memory", shortage);
  }
  if (model.phase === "ready") return [startUnload(model, null, "tier2_pinned_ram")];
  if (isHeld(model)) return [];
  if (model.phase === "unloading" || pages.phase === "leaving") {
    pages.isNext = true;
    return [];
  }
  return [startKeep(model)];
}

export function onKept(
  state: SchedulerState,
  model: ModelState,
  event: KeepEvent<"kept">,
): SchedulerEffect[] {
  const { pages } = model;
  if (pages.phase !== "coming" || pages.keeping !== event.keeping) return [];
  pages.phase = "kept";
  return afterLoad(state, model);
}

/** The pages could not be kept, or are no longer: the model is on disk only, unless its engine runs. */
export function onKeptLost(
  state: SchedulerState,
  model: ModelState,
  event: KeepEvent<"keepFailed" | "keptLost">,
): SchedulerEffect[] {
  const { pages } = model;
  const due = event.type === "keepFailed" ? "coming" : "kept";
  if (pages.phase !== due || pages.keeping !== event.keeping) return [];
  pages.problem = { code: event.code, message: event.message };
  return out(state, model);
}

export function onReleased(state: SchedulerState, model: ModelState): SchedulerEffect[] {
  return model.pages.phase === "leaving" ? out(state, model) : [];
}

/** The engine has gone, and with it what it held: now there is room for the pages that are to stay. */
export function afterEngine(state: SchedulerState, model: ModelState): SchedulerEffect[] {
  const { pages } = model;
  if (!pages.isNext || pages.phase === "leaving") return [];
  pages.isNext = false;
  if (isHeld(model) || state.draining) return [];
  const shortage = shortageOf(state, model);
  if (shortage === null) return [startKeep(model)];
  pages.problem = { code: "insufficient_memory", message: shortage };
  return [];
}

/**
 * A loaded model's pages are held on only where they are a copy of what it has on devices, and it is to be kept warm:
 * on the host the engine maps the same pages, and holding them beside it would take tier 2 from others for nothing.
 */
export function afterLoad(state: SchedulerState, model: ModelState): SchedulerEffect[] {
  if (model.phase !== "ready" || !isHeld(model)) return [];
  const { placement, terms } = model;
  const onDevices = placement?.deviceBytes.some((bytes) => bytes > 0) ?? false;
  const isCopy = onDevices && state.memory?.budgets.unified === false;
  return isCopy && terms.memory?.keepWarm === true ? [] : giveBack(model);
}

/** Gives kept pages back, or ends the bringing in of them. */
export function giveBack(model: ModelState, evicted: EvictedFor | null = null): SchedulerEffect[] {
  if (!isHeld(model)) return [];
  model.pages.phase = "leaving";
  return [{ type: "release", model: model.terms.id, evicted }];
}

/** The model is to be on disk only: whatever is held or was to be held of it goes. */
export function forgetPages(model: ModelState): SchedulerEffect[] {
  model.pages.isNext = false;
  model.pages.problem = null;
  return giveBack(model);
}

/** Whether pages are booked for it that nobody has given back. */
function isHeld({ pages }: ModelState): boolean {
  return pages.phase === "coming" || pages.phase === "kept";
}

function startKeep(model: ModelState): SchedulerEffect {
  const { pages, terms } = model;
  pages.phase = "coming";
  pages.isNext = false;
  pages.keeping++;
  pages.problem = null;
  pages.bytes = terms.memory?.artifactBytes ?? 0;
  return { type: "keep", model: terms.id, keeping: pages.keeping };
}

function out(state: SchedulerState, model: ModelState): SchedulerEffect[] {
  const { pages } = model;
  pages.phase = "out";
  pages.bytes = 0;
  takeNextTerms(model);
  state.memoryFreed = true;
  // Where its engine leaves as well, that is what its pages wait for.
  return model.phase === "unloading" ? [] : afterEngine(state, model);
}

/** Why its pages cannot be kept once its engine has gone; null when they can. */
function shortageOf(state: SchedulerState, model: ModelState): string | null {
  const { memory, id } = model.terms;
  if (state.memory === null || memory === undefined) return null;
  const leaves = model.phase === "ready" || model.phase === "unloading";
  const booked = bookingsOf(state, leaves ? model : null);
  const { artifact, artifactBytes } = memory;
  return whyNotKept(state.memory.budgets, booked, { model: id, artifact, artifactBytes });
}
