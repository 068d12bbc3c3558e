/** What a run learnt about where files come from, a host each ("pypi" is one host). */
export interface Reach {
  /** Why the host is passed over now, or null; `silent` when it may only have been slow. */
  passedOver(host: string): { reason: string; silent: boolean } | null;
  /** Nothing answered there; `silent` when it cannot be told from a slow answer. */
  unreachable(host: string, reason: string, silent: boolean): void;
  /** It asked to be left alone for so long, in milliseconds. */
  busy(host: string, forMs: number): void;
  /** For how long it is still to be left alone, in milliseconds. */
  busyFor(host: string): number;
  /** It answered, and only a patient try got an answer out of it. */
  slow(host: string): void;
  /** Whether the host needs patience. */
  isSlow(host: string): boolean;
}

/** A memory that forgets an unreachable host after `forgetMs`. */
export function createReach(forgetMs: number, now: () => number = () => performance.now()): Reach {
  const failed = new Map<string, { reason: string; silent: boolean; until: number }>();
  const slow = new Set<string>();
  const busyUntil = new Map<string, number>();
  return {
    passedOver(host) {
      const entry = failed.get(host);
      if (!entry) return null;
      if (now() >= entry.until) {
        failed.delete(host);
        return null;
      }
      return { reason: entry.reason, silent: entry.silent };
    },
    unreachable(host, reason, silent) {
      failed.set(host, { reason, silent, until: now() + forgetMs });
    },
    busy(host, forMs) {
      busyUntil.set(host, Math.max(busyUntil.get(host) ?? 0, now() + forMs));
    },
    busyFor: (host) => Math.max(0, (busyUntil.get(host) ?? 0) - now()),
    slow(host) {
      failed.delete(host);
      slow.add(host);
    },
    isSlow: (host) => slow.has(host),
  };
}
