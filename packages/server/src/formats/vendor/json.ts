import { isObject } from "../is-object.js";

export { isObject };

/** An object of JSON, whose fields are not known to be of any type. */
export type Json = Readonly<Record<string, unknown>>;

/** The value as an object; anything else is an empty one. */
export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

/** The value as a list; anything else is an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as a text; anything else is an empty one. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value if it is a number that counts something. */
export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
