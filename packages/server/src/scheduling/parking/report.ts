import { bytesOf } from "../../memory/index.js";
import type { SchedulerState } from "../state/state.js";

/** What is parked, for lists and status. Bytes; unbounded is Infinity. */
export interface ParkingReport {
  enabled: boolean;
  maxBytes: number;
  usedBytes: number;
  /** Whether there is a place to park in. */
  possible: boolean;
  /** The oldest first. */
  models: { model: string; slots: number; tokens: number; bytes: number; parkedMs: number }[];
}

export function reportOf({ parking }: SchedulerState, at: number): ParkingReport {
  const { book } = parking;
  return {
    enabled: book.enabled,
    maxBytes: book.maxBytes,
    usedBytes: book.bytes,
    possible: book.capacityBytes > 0,
    models: book.list().map((parked) => ({
      model: parked.model,
      slots: parked.conversations.length,
      tokens: parked.conversations.reduce((sum, { tokens }) => sum + tokens, 0),
      bytes: bytesOf(parked),
      parkedMs: Math.max(0, at - parked.at),
    })),
  };
}
