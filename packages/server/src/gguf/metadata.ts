import { quoted, type Refuse } from "./refusal.js";

/** One value of a header as far as the reader keeps it; the skipped kinds were passed over unread. */
export type MetadataValue =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "flag"; readonly value: boolean }
  | { readonly kind: "text"; readonly value: string }
  | { readonly kind: "list"; readonly values: readonly number[] }
  | { readonly kind: "skippedText" }
  | { readonly kind: "skippedList"; readonly length: number };

const KIND_NAMES: Record<MetadataValue["kind"], string> = {
  number: "a number",
  flag: "a boolean",
  text: "a string",
  list: "a list",
  skippedText: "a string",
  skippedList: "a list",
};

/** Typed look-ups over the metadata of a header. A missing key is null; a value of a wrong type throws. */
export class Metadata {
  readonly #values: ReadonlyMap<string, MetadataValue>;
  readonly #refuse: Refuse;

  constructor(values: ReadonlyMap<string, MetadataValue>, refuse: Refuse) {
    this.#values = values;
    this.#refuse = refuse;
  }

  /** A string that the reader keeps. Null also for a value of another type: such keys only inform. */
  text(key: string): string | null {
    const value = this.#values.get(key);
    return value?.kind === "text" ? value.value : null;
  }

  flag(key: string): boolean | null {
    const value = this.#values.get(key);
    if (value === undefined) return null;
    if (value.kind !== "flag") throw this.#wrong(key, value, "a boolean");
    return value.value;
  }

  /** A whole number, negative ones included. */
  integer(key: string): number | null {
    const value = this.#values.get(key);
    if (value === undefined) return null;
    if (value.kind !== "number") throw this.#wrong(key, value, "a number");
    if (!Number.isSafeInteger(value.value)) {
      throw this.#refuse(`its ${quoted(key)} is ${value.value}, not a whole number in range`);
    }
    return value.value;
  }

  /** A whole number from 0. */
  count(key: string): number | null {
    const value = this.integer(key);
    if (value !== null && value < 0) throw this.#refuse(`its ${quoted(key)} is negative: ${value}`);
    return value;
  }

  /** A whole number from 0, or one for each layer. */
  countOrList(key: string): number | number[] | null {
    const value = this.#values.get(key);
    if (value?.kind !== "list") return this.count(key);
    for (const entry of value.values) {
      if (!Number.isSafeInteger(entry) || entry < 0) {
        throw this.#refuse(`its ${quoted(key)} lists ${entry}, not a whole number in range`);
      }
    }
    return [...value.values];
  }

  /** One flag for each layer; numbers other than 0 are true. Null for a missing key or a single value. */
  flagList(key: string): boolean[] | null {
    const value = this.#values.get(key);
    return value?.kind === "list" ? value.values.map((entry) => entry !== 0) : null;
  }

  /** Number of elements of an array that was passed over. */
  listLength(key: string): number | null {
    const value = this.#values.get(key);
    if (value?.kind === "skippedList") return value.length;
    return value?.kind === "list" ? value.values.length : null;
  }

  #wrong(key: string, value: MetadataValue, expected: string): Error {
    return this.#refuse(`its ${quoted(key)} is ${KIND_NAMES[value.kind]}, not ${expected}`);
  }
}
