/** What the format takes as the id of a call. */
const TAKEN = /^[A-Za-z0-9_-]+$/;

/**
 * Ids of calls as the format takes them: other vendors' may have further characters. The same conversation gives
 * the same ids each time, and two of them never become one.
 */
export class CallIds {
  readonly #written = new Map<string, string>();
  readonly #used = new Set<string>();

  of(id: string): string {
    const known = this.#written.get(id);
    if (known !== undefined) return known;
    const plain = TAKEN.test(id) ? id : `call_${id.replace(/[^A-Za-z0-9_-]/g, "_")}`;
    let own = plain;
    for (let next = 2; this.#used.has(own); next++) own = `${plain}_${next}`;
    this.#used.add(own);
    this.#written.set(id, own);
    return own;
  }
}
