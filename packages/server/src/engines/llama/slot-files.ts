import type { SlotFiles } from "../engine.js";
import { brokenAnswer } from "./errors.js";

/**
 * `POST /slots/{id}?action=save|restore|erase` of llama-server (`handle_slots_*` in its server-context.cpp).
 * @param ask posts a body and gives the parsed answer of a 200
 */
export function slotFiles(
  ask: (path: string, body: unknown, signal: AbortSignal) => Promise<unknown>,
): SlotFiles {
  const act = (action: string, slot: number, file: string | null, signal: AbortSignal) =>
    ask(`/slots/${slot}?action=${action}`, file === null ? {} : { filename: file }, signal);
  return {
    async save(slot, file, signal) {
      const answer = await act("save", slot, file, signal);
      return { tokens: count(answer, "n_saved"), bytes: count(answer, "n_written") };
    },
    async restore(slot, file, signal) {
      return { tokens: count(await act("restore", slot, file, signal), "n_restored") };
    },
    async erase(slot, signal) {
      await act("erase", slot, null, signal);
    },
  };
}

/** @throws SomnusError `engine_failed` when the answer does not have the number */
function count(answer: unknown, field: string): number {
  const value = (answer as Record<string, unknown> | null)?.[field];
  if (typeof value !== "number") throw brokenAnswer(answer);
  return value;
}
