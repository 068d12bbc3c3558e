import type { CounterWindow } from "./writes.js";

/**
 * The window of the clock that a moment lies in: whole minutes, hours, days and months in UTC, or
 * stretches of so many milliseconds counted from 1970.
 */
export function windowAt(
  now: number,
  length: "minute" | "hour" | "day" | "month" | { readonly ms: number },
): CounterWindow {
  if (length === "month") {
    const date = new Date(now);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    return { from: Date.UTC(year, month), until: Date.UTC(year, month + 1) };
  }
  const ms = typeof length === "object" ? length.ms : LENGTHS[length];
  const from = Math.floor(now / ms) * ms;
  return { from, until: from + ms };
}

const LENGTHS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
