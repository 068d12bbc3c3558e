import type { MemoryTier } from "@somnus/contract";
import type { Store } from "../store.js";
import type { Row } from "../tables.js";

/** Loads that an average rests on: the latest say how the machine is now. */
const LATEST = 15;

/** How long a model takes to load from a tier. */
export interface ReloadTime {
  readonly model: string;
  readonly fromTier: MemoryTier;
  /** Of the latest loads. Milliseconds. */
  readonly medianMs: number;
  readonly lastMs: number;
  /** Weights that the last load brought up, bytes; null when it was not measured. */
  readonly bytes: number | null;
  /** Loads that the median rests on. */
  readonly loads: number;
}

/** Keeps how long a load took. */
export function saveLoad(store: Store, load: Row<"model_loads">): void {
  store.append("model_loads", [load]);
}

/** How long loads took lately, for each model and tier that there is a load of. */
export function reloadTimes(store: Store): Promise<ReloadTime[]> {
  return store.ask({
    sql: `
      SELECT model, fromTier, ms, bytes FROM (
        SELECT *, row_number() OVER (PARTITION BY model, fromTier ORDER BY at DESC, id DESC) AS latest
        FROM model_loads
      ) WHERE latest <= ? ORDER BY model, fromTier, latest`,
    values: [LATEST],
    read(rows) {
      const loads = new Map<string, { ms: number[]; first: ReloadTime }>();
      for (const [model, fromTier, ms, bytes] of rows as [
        string,
        MemoryTier,
        number,
        number | null,
      ][]) {
        const key = `${fromTier} ${model}`;
        const known = loads.get(key);
        if (known) known.ms.push(ms);
        else {
          const first = { model, fromTier, medianMs: ms, lastMs: ms, bytes, loads: 1 };
          loads.set(key, { ms: [ms], first });
        }
      }
      return [...loads.values()].map(({ ms, first }) => ({
        ...first,
        medianMs: median(ms),
        loads: ms.length,
      }));
    },
  });
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
