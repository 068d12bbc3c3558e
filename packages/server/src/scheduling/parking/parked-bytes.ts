import type { SchedulerState } from "../state/state.js";

/** What parked conversations take of host memory, those that are being saved included; bytes. */
export function parkedBytes({ parking }: Pick<SchedulerState, "parking">): number {
  if (!parking.takesMemory) return 0;
  let bytes = parking.book.bytes;
  for (const saving of parking.saving.values()) bytes += saving.bytes;
  return bytes;
}
