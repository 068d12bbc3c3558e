import type { AskedGeneration, Sampling } from "../generation.js";

/** A part of a request that a format may have no place for, by its name in the internal form. */
export type RequestField = Exclude<keyof AskedGeneration, "messages" | "sampling"> | keyof Sampling;

/** A request in the words of a vendor's format. */
export interface WrittenRequest {
  body: Record<string, unknown>;
  /** What the client asked for that is not in the body, or only nearly: each once, in no order that matters. */
  dropped: RequestField[];
}

/** Gathers what is dropped, each thing once. */
export class Dropped {
  readonly #fields = new Set<RequestField>();

  get all(): RequestField[] {
    return [...this.#fields];
  }

  add(field: RequestField): void {
    this.#fields.add(field);
  }

  /** Adds those fields of the object that hold something. */
  addGiven<Field extends RequestField>(
    from: { readonly [Name in Field]?: unknown },
    ...fields: Field[]
  ): void {
    for (const field of fields) if (from[field] !== undefined) this.#fields.add(field);
  }
}
