import type { Bandwidths, Machine } from "./machine.js";
import { Book, type Booking } from "./planner/book.js";
import { type Budgets, grantedBytes } from "./planner/budgets.js";
import { reloadMs } from "./planner/price.js";

/** What is used and what is left of each tier. Bytes; unmeasured is null. */
export interface Figures {
  /** Memory of the devices, or of the host where there is none. */
  tier1: {
    totalBytes: number;
    budgetBytes: number;
    usedBytes: number;
    /** The budget without what is booked. */
    freeBytes: number;
    /** What others use of it, as far as it is not given out. */
    unaccountedBytes: number;
    /** What the planner can give to the next model. */
    effectiveFreeBytes: number;
    /** As the devices say; null without any, and on a machine that is made up. */
    realFreeBytes: number | null;
    realTotalBytes: number | null;
  };
  tier2: { budgetBytes: number; usedBytes: number; freeBytes: number };
  /** What is left of the memory that tier 1 shares with the others; null when it has its own. */
  poolFreeBytes: number | null;
}

/** The figures of a machine on which so much is booked, as the planner counts it. */
export function figuresOf(
  machine: Machine,
  budgets: Budgets,
  bookings: readonly Booking[],
): Figures {
  const nothing = { artifact: "", artifactBytes: 0 };
  const empty = new Book(budgets, [], nothing);
  const book = new Book(budgets, bookings, nothing);
  const freeHost = Math.max(0, book.freeHost);
  const keptBytes = sum(bookings.map((booking) => booking.keptBytes));
  const hasDevices = budgets.devices.length > 0;
  const tier1 = hasDevices
    ? deviceFigures(machine, budgets, book)
    : {
        totalBytes: grantedBytes(machine.host),
        budgetBytes: budgets.host.bytes,
        usedBytes: empty.freeHost - book.freeHost,
        unaccountedBytes: budgets.host.unaccountedBytes,
        effectiveFreeBytes: freeHost,
        realFreeBytes: null,
        realTotalBytes: null,
      };
  return {
    tier1: { ...tier1, freeBytes: Math.max(0, tier1.budgetBytes - tier1.usedBytes) },
    tier2: {
      budgetBytes: budgets.tier2Bytes,
      usedBytes: keptBytes,
      freeBytes: Math.max(0, budgets.tier2Bytes - keptBytes),
    },
    poolFreeBytes: hasDevices && !budgets.unified ? null : freeHost,
  };
}

function deviceFigures(
  machine: Machine,
  budgets: Budgets,
  book: Book,
): Omit<Figures["tier1"], "freeBytes"> {
  const { devices } = machine;
  const free = [...book.freeDevice];
  const canGive = sum(free.map((bytes) => Math.max(0, bytes)));
  const measured = machine.simulated ? [] : devices.map((device) => device.freeBytes);
  const unaccountedBytes = sum(budgets.devices.map((device) => device.unaccountedBytes));
  const budgetBytes = sum(budgets.devices.map((device) => device.bytes));
  const totalBytes = sum(devices.map((device) => device.totalBytes));
  return {
    totalBytes,
    budgetBytes,
    usedBytes: budgetBytes - unaccountedBytes - sum(free),
    unaccountedBytes,
    effectiveFreeBytes: budgets.unified ? Math.min(canGive, Math.max(0, book.freeHost)) : canGive,
    realFreeBytes:
      measured.length === 0 || measured.includes(null) ? null : sum(measured as number[]),
    realTotalBytes: machine.simulated ? null : totalBytes,
  };
}

/**
 * Time to have a model back from disk once it has gone, in ms, as eviction weighs it: the time that its
 * last load took, else told from its size.
 */
export function reloadEstimateMs(
  model: { artifactBytes: number; deviceBytes: readonly number[]; measuredMs: number | null },
  bandwidths: Bandwidths,
): number {
  const cost = {
    expectedPerMinute: 0,
    reloadMs: { fromTier2: null, fromTier3: model.measuredMs },
  };
  return reloadMs(model, "tier3_nvme_ssd", cost, bandwidths);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
