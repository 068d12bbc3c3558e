import type { ModelState, SchedulerEffect, SchedulerState } from "../state/state.js";
import { isWanted } from "../state/waiting.js";
import { discard, freeForParking } from "./books.js";
import type { SlotToSave } from "./terms.js";

/** A saved slot is a little more than its tokens: its head, their positions, the prompt itself. */
const BYTES_BESIDE_TOKENS = 256 * 1024;
const SHARE_BESIDE_TOKENS = 1.05;

type Unload = Extract<SchedulerEffect, { type: "unload" }>;

/**
 * To be called with the effects of every event: an engine that is to be unloaded with conversations worth
 * keeping has them saved first, and those kept for a restart that nobody wants any more go.
 */
export function settleParking(state: SchedulerState, effects: SchedulerEffect[]): void {
  const { parking } = state;
  for (let index = 0; index < effects.length; index++) {
    const effect = effects[index]!;
    if (effect.type !== "unload") continue;
    // The second one for an engine: its conversations have been saved.
    if (parking.saving.delete(effect.model)) continue;
    const instead = saveFirst(state, state.models.get(effect.model)!, effect);
    effects.splice(index, 1, ...instead);
    index += instead.length - 1;
  }
  if (parking.book.bytes === 0) return;
  for (const { model: id, forRestart } of parking.book.list()) {
    const model = state.models.get(id)!;
    if (!forRestart || model.phase !== "unloaded" || isWanted(model)) continue;
    effects.push(...discard(parking.book.drop(id)));
  }
}

function saveFirst(state: SchedulerState, model: ModelState, unload: Unload): SchedulerEffect[] {
  const { book, loads, restarts, saving } = state.parking;
  const { id } = model.terms;
  const forRestart = restarts.delete(id) && !book.enabled;
  const load = loads.get(id);
  if (load === undefined || state.draining || !(book.enabled || forRestart)) return [unload];
  // A smaller pool is wanted, into which nothing would come back.
  if (model.poolTokens < load.contextTokens) return [unload];
  const slots = slotsToSave(model, book.mostBytes(forRestart));
  if (slots.length === 0) return [unload];
  const dropped = [...book.drop(id), ...book.makeRoom(bytesOf(slots), forRestart)];
  while (freeForParking(state) < bytesOf(slots)) {
    const oldest = book.dropOldest();
    if (oldest !== null) dropped.push(oldest);
    else slots.pop();
  }
  if (slots.length === 0) return [...discard(dropped), unload];
  const { evicted } = unload;
  saving.set(id, { ...load, evicted, forRestart, bytes: bytesOf(slots), unwanted: false });
  return [...discard(dropped), { type: "park", model: id, slots, evicted }];
}

/** The slots that hold something, those used last first, as many as may be parked. */
function slotsToSave(model: ModelState, most: number): SlotToSave[] {
  const perToken = model.terms.memory?.estimate(model.poolTokens).kvBytesPerToken ?? null;
  const found: SlotToSave[] = [];
  let bytes = 0;
  const byUse = [...model.slots.entries()].sort(([, a], [, b]) => b.usedAt - a.usedAt);
  for (const [slot, { outline, tokens }] of byUse) {
    if (outline === null || tokens === 0) continue;
    const mostBytes =
      perToken === null
        ? Math.floor(most / model.slots.length)
        : Math.ceil(tokens * perToken * SHARE_BESIDE_TOKENS) + BYTES_BESIDE_TOKENS;
    if (bytes + mostBytes > most) continue;
    bytes += mostBytes;
    found.push({ slot, tokens, mostBytes });
  }
  return found;
}

function bytesOf(slots: readonly SlotToSave[]): number {
  return slots.reduce((sum, { mostBytes }) => sum + mostBytes, 0);
}
