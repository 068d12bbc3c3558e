import type { WriteGroup } from "./writes.js";

/** The most that waits to be written. */
export interface BufferLimits {
  readonly rows: number;
  readonly bytes: number;
}

/** Groups of rows that wait to be written, first come first; beyond its limits new ones are not taken. */
export class WriteBuffer {
  readonly #limits: BufferLimits;
  #groups: WriteGroup[] = [];
  #rows = 0;
  #bytes = 0;

  constructor(limits: BufferLimits) {
    this.#limits = limits;
  }

  get rows(): number {
    return this.#rows;
  }

  /** False when there is no room for it. */
  add(group: WriteGroup): boolean {
    if (this.#rows + group.rows > this.#limits.rows) return false;
    if (this.#bytes + group.bytes > this.#limits.bytes) return false;
    this.#groups.push(group);
    this.#count([group], 1);
    return true;
  }

  /** The oldest groups, until they have `rows` rows: at least one, where there is one. */
  take(rows: number): WriteGroup[] {
    let sum = 0;
    let end = 0;
    while (end < this.#groups.length && sum < rows) {
      sum += this.#groups[end]?.rows ?? 0;
      end += 1;
    }
    const taken = this.#groups.splice(0, end);
    this.#count(taken, -1);
    return taken;
  }

  /** Puts back what was taken and could not be written; it is never refused. */
  putBack(groups: readonly WriteGroup[]): void {
    this.#groups = [...groups, ...this.#groups];
    this.#count(groups, 1);
  }

  #count(groups: readonly WriteGroup[], sign: 1 | -1): void {
    for (const group of groups) {
      this.#rows += sign * group.rows;
      this.#bytes += sign * group.bytes;
    }
  }
}
