import { fitsInto } from "../../memory/index.js";
import { onEngineExited, onLoaded } from "../decision/loads.js";
import type {
  ModelState,
  SchedulerEffect,
  SchedulerEvent,
  SchedulerState,
} from "../state/state.js";
import { discard } from "./books.js";
import type { Parked, ParkingEvent } from "./terms.js";

type LoadedEvent = Extract<SchedulerEvent, { type: "loaded" }>;

/** An engine is loaded: its conversations come back before it takes requests. */
export function onEngineLoaded(
  state: SchedulerState,
  model: ModelState,
  event: LoadedEvent,
): SchedulerEffect[] {
  const { book, loads, restoring } = state.parking;
  const { id } = model.terms;
  const { parkingKey: key = null, slots, contextTokens } = event;
  if (key === null) loads.delete(id);
  else loads.set(id, { key, contextTokens });
  const parked = book.get(id);
  if (parked === undefined) return onLoaded(state, model, event);
  if (state.draining || !fitsInto(parked, { key, slots, contextTokens })) {
    return [...discard(book.drop(id)), ...onLoaded(state, model, event)];
  }
  book.take(id);
  restoring.set(id, { parked, loaded: event });
  return [{ type: "unpark", model: id, parked }];
}

/** An engine ended by itself; what it was given back has gone with it. */
export function onEngineEnded(
  state: SchedulerState,
  model: ModelState,
  at: number,
): SchedulerEffect[] {
  const { book, loads, restoring } = state.parking;
  const { id } = model.terms;
  if (restoring.delete(id)) {
    // It had been loaded, and what is parked is not tried again: it may be what ended it.
    model.phase = "ready";
    book.restored(id);
    freeMemory(state);
  }
  // Nothing is left of it to be saved.
  loads.delete(id);
  return onEngineExited(model, at);
}

/** What became of saving and restoring, and what somebody wants of it. */
export function onParkingEvent(
  state: SchedulerState,
  event: ParkingEvent & { at: number },
): SchedulerEffect[] {
  switch (event.type) {
    case "parked":
      return onSaved(state, event.model, event.saved, event.at);
    case "parkFailed":
      return onSaved(state, event.model, [], event.at);
    case "unparked":
      return onRestored(state, event.model, event.slots, event.at);
    case "unparkFailed":
      return onRestored(state, event.model, [], event.at);
    case "parkingSet":
      freeMemory(state);
      return discard(state.parking.book.change(event));
    case "parkedDropped":
      freeMemory(state);
      return discard(event.models.flatMap((id) => forget(state, id)));
  }
}

function onSaved(
  state: SchedulerState,
  id: string,
  saved: Extract<ParkingEvent, { type: "parked" }>["saved"],
  at: number,
): SchedulerEffect[] {
  const saving = state.parking.saving.get(id);
  const model = state.models.get(id);
  if (saving === undefined || model === undefined) return [];
  const { key, contextTokens, evicted, forRestart, unwanted } = saving;
  // No longer kept free for it: from here on the book counts what there is.
  saving.bytes = 0;
  const parked: Parked = {
    model: id,
    key,
    contextTokens,
    slots: model.slots.length,
    conversations: saved.map(({ slot, tokens, file }) => ({
      slot,
      tokens,
      file,
      held: model.slots[slot]!.outline!,
    })),
    at,
    forRestart,
  };
  const dropped = saved.length === 0 ? [] : unwanted ? [parked] : state.parking.book.put(parked);
  return [...discard(dropped), { type: "unload", model: id, evicted }];
}

function onRestored(
  state: SchedulerState,
  id: string,
  slots: readonly number[],
  at: number,
): SchedulerEffect[] {
  const { book, restoring } = state.parking;
  const under = restoring.get(id);
  if (under === undefined) return [];
  restoring.delete(id);
  book.restored(id);
  freeMemory(state);
  const restored = under.parked.conversations
    .filter(({ slot }) => slots.includes(slot))
    .map(({ slot, held, tokens }) => ({ slot, outline: held, tokens }));
  return onLoaded(state, state.models.get(id)!, { ...under.loaded, restored, at });
}

function forget(state: SchedulerState, id: string): Parked[] {
  const saving = state.parking.saving.get(id);
  if (saving !== undefined) saving.unwanted = true;
  return state.parking.book.drop(id);
}

function freeMemory(state: SchedulerState): void {
  if (state.parking.takesMemory) state.memoryFreed = true;
}
