import { bytesOf } from "../../memory/index.js";
import type { SchedulerState } from "../state/state.js";

/** What is parked, for lists and status. Bytes; unbounded is Infinity. */
export interface ParkingReport {
  enabled: boolean;
  maxBytes: number;
  usedBytes: number;
  /** Whether there is a place to park in. */
  possible: boolean;
  /** Those that are being restored too, whose files are still there; the oldest first. */
  models: { model: string; slots: number; tokens: number; bytes: number; parkedMs: number }[];
}

export function reportOf({ parking }: SchedulerState, at: number): ParkingReport {
  const { book, restoring } = parking;
  const taken = [...restoring.values()].map(({ parked }) => parked);
  const all = [...taken, ...book.list()].sort((a, b) => a.at - b.at);
  return {
    enabled: book.enabled,
    maxBytes: book.maxBytes,
    usedBytes: book.bytes,
    possible: book.capacityBytes > 0,
    models: all.map((parked) => ({
      model: parked.model,
      slots: parked.conversations.length,
      tokens: parked.conversations.reduce((sum, { tokens }) => sum + tokens, 0),
      bytes: bytesOf(parked),
      parkedMs: Math.max(0, at - parked.at),
    })),
  };
}
