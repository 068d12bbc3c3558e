import { isObject, type Json, objectOf, type PartialCall, textOf } from "../vendor/index.js";

interface NumberedCall extends PartialCall {
  /** As the vendor numbers it; undefined where it does not. */
  readonly number: number | undefined;
}

/**
 * Joins the pieces of calls. They are told apart by their number; by their id where a vendor gives all of them one
 * number, or none; a piece without either belongs to the last call, unless it names a function.
 */
export class CallFragments {
  readonly #calls: NumberedCall[] = [];

  /** The calls as far as they are, in the order in which they began. */
  get all(): readonly PartialCall[] {
    return this.#calls;
  }

  /** Takes pieces and gives the names of the functions whose calls began with them. */
  add(pieces: readonly unknown[]): string[] {
    return pieces.filter(isObject).flatMap((piece) => {
      const called = objectOf(piece.function);
      const call = this.#callOf(piece);
      const begins = call.name === "";
      if (call.id === "") call.id = textOf(piece.id);
      if (begins) call.name = textOf(called.name);
      call.arguments += argumentsOf(called.arguments);
      return begins && call.name !== "" ? [call.name] : [];
    });
  }

  #callOf(piece: Json): NumberedCall {
    const number = typeof piece.index === "number" ? piece.index : undefined;
    const id = textOf(piece.id);
    const isNew = number === undefined && id === "" && textOf(objectOf(piece.function).name) !== "";
    const known = this.#calls.findLast((call) => isOf(call, number, id));
    if (known && !(isNew && known.name !== "")) return known;
    const call = { number, id: "", name: "", arguments: "" };
    this.#calls.push(call);
    return call;
  }
}

function isOf(call: NumberedCall, number: number | undefined, id: string): boolean {
  if (number !== undefined && call.number !== number) return false;
  return id === "" || call.id === "" || call.id === id;
}

/** Some send an object in the place of its text. */
function argumentsOf(value: unknown): string {
  return isObject(value) ? JSON.stringify(value) : textOf(value);
}
