import { isObject } from "../is-object.js";

/** A JSON schema, or a part of one. */
export type Schema = Readonly<Record<string, unknown>>;

/** Where a schema has something that cannot be held to, as a JSON pointer into it ("#/properties/a"), and why. */
export class SchemaFault extends Error {
  override readonly name = "SchemaFault";

  constructor(
    readonly at: string,
    why: string,
  ) {
    super(why);
  }
}

export { isObject as isSchema };

/** What a JSON value is, in the words of JSON Schema. */
export function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** Words that belong to one type each, in the order in which they decide what a schema without a type is about. */
const TYPE_OF_WORD: Readonly<Record<string, string>> = {
  properties: "object",
  required: "object",
  additionalProperties: "object",
  patternProperties: "object",
  propertyNames: "object",
  minProperties: "object",
  maxProperties: "object",
  items: "array",
  prefixItems: "array",
  minItems: "array",
  maxItems: "array",
  uniqueItems: "array",
  contains: "array",
  pattern: "string",
  format: "string",
  minLength: "string",
  maxLength: "string",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  multipleOf: "number",
};

/** The types that a schema allows; null: all of them. Without a word for it, what it is about decides. */
export function typesOf(schema: Schema): readonly string[] | null {
  const { type } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type as string[];
  for (const [word, about] of Object.entries(TYPE_OF_WORD)) {
    if (word in schema) return [about];
  }
  return null;
}

/** The names on the way from a document to the part that a reference leads to ("#/$defs/a"; RFC 6901). */
export function stepsOf(reference: string): string[] {
  const steps = reference.split("/").slice(1);
  return steps.map((step) => decoded(step).replaceAll("~1", "/").replaceAll("~0", "~"));
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

/** The part of a document that a reference leads to. */
export function targetOf(root: Schema, reference: unknown): Schema | undefined {
  let target: unknown = root;
  for (const step of stepsOf(String(reference))) {
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, step)) {
      return undefined;
    }
    target = (target as Schema)[step];
  }
  return isObject(target) ? target : undefined;
}
