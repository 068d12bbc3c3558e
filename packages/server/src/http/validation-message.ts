import { alternativesOf, describeSchema, type Kind, kindOf, kindsOf } from "./describe-schema.js";
import type { SchemaNode } from "./json-schema.js";

/** Why a value does not fit a schema. */
export interface Mismatch {
  /** The field at fault: `messages[2].content[0].text`; empty for the value as a whole. */
  readonly param: string;
  /** One sentence: what the field must be, and what came instead. Text is never quoted at length. */
  readonly message: string;
}

/** Strings up to this length are named in a message, where a choice of words was expected. */
const QUOTED_CHARACTERS = 40;

/**
 * The first field of `value` that does not fit, with the expectation that it misses: of several
 * alternatives the one that the value was meant to be, told by its kind or by a field such as
 * `type` whose value names it. Null when nothing is found, which a validator may still contradict
 * for keywords that the wire's schemas do not use.
 * @param whole how to call the value as a whole: "The body"
 */
export function explainMismatch(schema: unknown, value: unknown, whole: string): Mismatch | null {
  return explain(schema as SchemaNode, value, { path: "", whole });
}

interface Place {
  readonly path: string;
  readonly whole: string;
}

function explain(schema: SchemaNode, value: unknown, place: Place): Mismatch | null {
  const branches = alternativesOf(schema);
  if (branches.length > 1) return explainUnion(schema, branches, value, place);

  const kind = kindOf(value);
  const kinds = kindsOf(schema);
  if (kinds !== null && !kinds.has(kind)) return wrong(schema, value, place);
  if (schema.const !== undefined && schema.const !== value) return wrong(schema, value, place);
  if (schema.enum && !schema.enum.includes(value)) return wrong(schema, value, place);
  switch (kind) {
    case "number":
      return fitsNumber(schema, value as number) ? null : wrong(schema, value, place);
    case "string":
      return fitsString(schema, value as string) ? null : wrong(schema, value, place);
    case "array":
      return explainArray(schema, value as readonly unknown[], place);
    case "object":
      return explainObject(schema, value as Readonly<Record<string, unknown>>, place);
    default:
      return null;
  }
}

function explainUnion(
  schema: SchemaNode,
  branches: readonly SchemaNode[],
  value: unknown,
  place: Place,
): Mismatch | null {
  const kind = kindOf(value);
  const meant = branches.filter((branch) => kindsOf(branch)?.has(kind) ?? true);
  if (meant.length === 0) return wrong(schema, value, place);
  if (meant.length === 1) {
    const only = meant[0] as SchemaNode;
    const mismatch = explain(only, value, place);
    // At this very place the whole choice is the expectation: "a string or an array", not one of them.
    return mismatch !== null && mismatch.param === place.path && kind !== "object"
      ? wrong(schema, value, place)
      : mismatch;
  }
  if (kind === "object") {
    const chosen = explainByDiscriminator(meant, value as Readonly<Record<string, unknown>>, place);
    if (chosen !== undefined) return chosen;
  }
  let deepest: Mismatch | null = null;
  for (const branch of meant) {
    const mismatch = explain(branch, value, place);
    if (mismatch === null) return null;
    if (deepest === null || mismatch.param.length > deepest.param.length) deepest = mismatch;
  }
  return deepest?.param === place.path ? wrong(schema, value, place) : deepest;
}

/** Undefined when no field tells the alternatives apart. */
function explainByDiscriminator(
  branches: readonly SchemaNode[],
  value: Readonly<Record<string, unknown>>,
  place: Place,
): Mismatch | null | undefined {
  const name = Object.keys(branches[0]?.properties ?? {}).find((key) =>
    branches.every((branch) => constantsOf(branch.properties?.[key]).length > 0),
  );
  if (name === undefined) return undefined;
  const field: SchemaNode = {
    enum: branches.flatMap((branch) => constantsOf(branch.properties?.[name])),
  };
  const at = inField(place, name);
  if (!Object.hasOwn(value, name)) {
    const usual = branches.find((branch) => !branch.required?.includes(name));
    return usual ? explain(usual, value, place) : missing(field, at);
  }
  const chosen = branches.find((branch) =>
    constantsOf(branch.properties?.[name]).includes(value[name]),
  );
  return chosen === undefined ? wrong(field, value[name], at) : explain(chosen, value, place);
}

function constantsOf(schema: SchemaNode | undefined): readonly unknown[] {
  if (schema?.const !== undefined) return [schema.const];
  return schema?.enum ?? [];
}

function fitsNumber(schema: SchemaNode, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  if (schema.type === "integer" && !Number.isInteger(value)) return false;
  return (
    value >= (schema.minimum ?? Number.NEGATIVE_INFINITY) &&
    value <= (schema.maximum ?? Number.POSITIVE_INFINITY) &&
    value > (schema.exclusiveMinimum ?? Number.NEGATIVE_INFINITY) &&
    value < (schema.exclusiveMaximum ?? Number.POSITIVE_INFINITY)
  );
}

function fitsString(schema: SchemaNode, value: string): boolean {
  if (schema.minLength !== undefined || schema.maxLength !== undefined) {
    const length = characters(value);
    if (length < (schema.minLength ?? 0) || length > (schema.maxLength ?? Number.POSITIVE_INFINITY))
      return false;
  }
  return schema.pattern === undefined || new RegExp(schema.pattern, "u").test(value);
}

function explainArray(
  schema: SchemaNode,
  value: readonly unknown[],
  place: Place,
): Mismatch | null {
  if (value.length < (schema.minItems ?? 0)) return wrong(schema, value, place);
  if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY))
    return wrong(schema, value, place);
  if (!schema.items) return null;
  const { items } = schema;
  // Paths are made for the item at fault alone: a body may have millions of others.
  const at = value.findIndex((item) => explain(items, item, place) !== null);
  return at < 0 ? null : explain(items, value[at], { ...place, path: `${place.path}[${at}]` });
}

function explainObject(
  schema: SchemaNode,
  value: Readonly<Record<string, unknown>>,
  place: Place,
): Mismatch | null {
  const properties = schema.properties ?? {};
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) return missing(properties[name] ?? {}, inField(place, name));
  }
  const patterns = Object.entries(schema.patternProperties ?? {}).map(
    ([pattern, node]) => [new RegExp(pattern, "u"), node] as const,
  );
  const rest = schema.additionalProperties;
  let fields = 0;
  for (const [name, item] of Object.entries(value)) {
    fields += 1;
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const node = own ?? patterns.find(([pattern]) => pattern.test(name))?.[1] ?? rest;
    if (node === undefined || node === true) continue;
    const at = inField(place, name);
    if (node === false)
      return { param: at.path, message: `${called(at)} is not a field of this object.` };
    const mismatch = explain(node, item, at);
    if (mismatch) return mismatch;
  }
  if (
    fields < (schema.minProperties ?? 0) ||
    fields > (schema.maxProperties ?? Number.POSITIVE_INFINITY)
  ) {
    return wrong(schema, value, place);
  }
  return null;
}

function missing(schema: SchemaNode, at: Place): Mismatch {
  return {
    param: at.path,
    message: `${called(at)} is missing; it must be ${describeSchema(schema)}.`,
  };
}

function wrong(schema: SchemaNode, value: unknown, place: Place): Mismatch {
  return {
    param: place.path,
    message: `${called(place)} must be ${describeSchema(schema)}, not ${describeValue(schema, value)}.`,
  };
}

function describeValue(schema: SchemaNode, value: unknown): string {
  const kind: Kind = kindOf(value);
  const expected = alternativesOf(schema);
  const accepted = expected.some((branch) => kindsOf(branch)?.has(kind) ?? true);
  switch (kind) {
    case "null":
      return "null";
    case "boolean":
      return String(value);
    case "number":
      return Number.isFinite(value) ? String(value) : "a number that large";
    case "string": {
      const text = value as string;
      if (!accepted) return "a string";
      if (text === "") return "an empty one";
      if (
        expected.some((branch) => constantsOf(branch).length > 0) &&
        text.length <= QUOTED_CHARACTERS
      ) {
        return JSON.stringify(text.toWellFormed());
      }
      return `one of ${characters(text)} characters`;
    }
    case "array": {
      const { length } = value as readonly unknown[];
      if (!accepted) return "an array";
      return length === 0 ? "an empty one" : `one of ${length} items`;
    }
    case "object":
      return accepted ? `one of ${Object.keys(value as object).length} fields` : "an object";
  }
}

function characters(text: string): number {
  let n = 0;
  for (const _ of text) n += 1;
  return n;
}

function called({ path, whole }: Place): string {
  return path === "" ? whole : path;
}

/** Names that are no identifiers stand in brackets and quotes, long ones cut. */
function inField(place: Place, name: string): Place {
  const simple = /^[A-Za-z_][\w-]{0,63}$/.test(name);
  const shown = name.length > 64 ? `${name.slice(0, 64)}...` : name;
  const suffix = simple
    ? place.path === ""
      ? name
      : `.${name}`
    : `[${JSON.stringify(shown.toWellFormed())}]`;
  return { ...place, path: place.path + suffix };
}
