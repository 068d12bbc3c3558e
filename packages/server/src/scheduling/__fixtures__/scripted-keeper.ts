import type { Kept } from "../../memory/index.js";
import type { WeightsKeeper } from "../index.js";

/** A keeper without a process: it says that it keeps what it is given, or fails as the script says. */
export function scriptedKeeper(
  script: { keep?: (path: string, signal: AbortSignal) => Promise<void> } = {},
) {
  const held: string[] = [];
  const keeper: WeightsKeeper = {
    async keep(path, { signal }) {
      await script.keep?.(path, signal);
      signal.throwIfAborted();
      held.push(path);
      const measured = { residentBytes: 100, lockedBytes: 60 };
      return { path, bytes: 100, state: "kept", holders: 1, ...measured, reason: null, tookMs: 1 };
    },
    async release(path) {
      const at = held.indexOf(path);
      if (at >= 0) held.splice(at, 1);
    },
  } satisfies WeightsKeeper & { keep(...args: never[]): Promise<Kept> };
  return { keeper, held };
}
