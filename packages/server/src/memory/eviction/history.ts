import type { EvictionReason, MemoryTier } from "./kinds.js";

/** One automatic eviction, as the status tells it. */
export interface Eviction {
  model: string;
  /** The model that needed the memory. */
  forModel: string;
  reason: EvictionReason;
  toTier: MemoryTier;
  /** Milliseconds since 1970. */
  at: number;
}

const KEPT = 32;

/** The last automatic evictions. */
export class EvictionHistory {
  #ring: Eviction[] = [];
  #next = 0;

  /** Notes an eviction; the oldest goes when there are more than are kept. */
  add(eviction: Eviction): void {
    this.#ring[this.#next] = { ...eviction };
    this.#next = (this.#next + 1) % KEPT;
  }

  /** The evictions noted, the newest first. */
  list(): Eviction[] {
    const oldestFirst = [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
    return oldestFirst.reverse();
  }
}
