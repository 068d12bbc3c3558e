import { commonStart, lengthOf, type Outline } from "../state/outline.js";
import type { SlotState } from "../state/state.js";

/** Idle time after which a kept conversation counts half as much. */
const HALF_LIFE_MS = 5 * 60_000;

/** Segments before the first message that is a conversation's own: the mode and a system message. */
function sharedSegments(outline: Outline): number {
  return outline[1]?.startsWith("system\n") ? 2 : 1;
}

/**
 * The free slot to run a request in: the one that holds this conversation, else an empty one, else the
 * one whose content costs least to lose. A system prompt in common does not make it the same
 * conversation, or all chats of one application would push each other out of one slot.
 * @returns the slot's index, or -1 when none is free
 */
export function chooseSlot(slots: readonly SlotState[], wanted: Outline, at: number): number {
  let own = -1;
  let ownCharacters = 0;
  let empty = -1;
  let cheapest = -1;
  let cheapestCost = Number.POSITIVE_INFINITY;
  for (const [index, slot] of slots.entries()) {
    if (slot.request !== null) continue;
    if (slot.outline === null) {
      if (empty < 0) empty = index;
      continue;
    }
    const held = slot.outline;
    const common = commonStart(held, wanted);
    const lost = lengthOf(held) - common.characters;
    if (isSameConversation(held, wanted, common.segments, common.characters, lost)) {
      if (common.characters > ownCharacters) {
        own = index;
        ownCharacters = common.characters;
      }
      continue;
    }
    const cost = lost * 0.5 ** ((at - slot.usedAt) / HALF_LIFE_MS) - common.characters;
    if (cost < cheapestCost) {
      cheapest = index;
      cheapestCost = cost;
    }
  }
  if (own >= 0) return own;
  return empty >= 0 ? empty : cheapest;
}

function isSameConversation(
  held: Outline,
  wanted: Outline,
  segments: number,
  characters: number,
  lost: number,
): boolean {
  if (lost === 0) return true;
  if (segments <= sharedSegments(wanted)) return false;
  return held.length - segments <= 1 || lost <= characters;
}
