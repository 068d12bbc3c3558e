import type { SchemaNode } from "./json-schema.js";

/** The kind of a JSON value, as people call it. */
export type Kind = "null" | "boolean" | "number" | "string" | "array" | "object";

/** The kinds that a schema without alternatives can accept; null when it accepts every kind. */
export function kindsOf(schema: SchemaNode): ReadonlySet<Kind> | null {
  const types = schema.type === undefined ? impliedTypes(schema) : [schema.type].flat();
  return types === null
    ? null
    : new Set(types.map((type) => (type === "integer" ? "number" : (type as Kind))));
}

function impliedTypes(schema: SchemaNode): string[] | null {
  if (schema.const !== undefined) return [kindOf(schema.const)];
  if (schema.enum) return schema.enum.map(kindOf);
  if (schema.properties) return ["object"];
  if (schema.items) return ["array"];
  return null;
}

export function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "boolean" || type === "number" || type === "string" ? type : "object";
}

/** The alternatives of a schema, nested ones flattened; the schema itself when it has none. */
export function alternativesOf(schema: SchemaNode): readonly SchemaNode[] {
  const branches = schema.anyOf ?? schema.oneOf;
  return branches ? branches.flatMap(alternativesOf) : [schema];
}

/** What a schema accepts, to follow "must be": `a number from 0 to 2`, `a string or an array`. */
export function describeSchema(schema: SchemaNode): string {
  const parts: string[] = [];
  const literals: unknown[] = [];
  for (const branch of alternativesOf(schema)) {
    // null stands for "left out" nearly everywhere, so naming it would only make sentences longer.
    if (branch.type === "null") continue;
    if (branch.const !== undefined) literals.push(branch.const);
    else parts.push(describeOne(branch));
  }
  if (literals.length > 0) parts.push(oneOf(literals));
  if (parts.length === 0) return "null";
  return join([...new Set(parts)]);
}

function describeOne(schema: SchemaNode): string {
  if (schema.enum) return oneOf(schema.enum);
  const kinds = kindsOf(schema);
  if (kinds === null) return "a JSON value";
  return join([...kinds].map((kind) => describeKind(kind, schema)));
}

function describeKind(kind: Kind, schema: SchemaNode): string {
  switch (kind) {
    case "number":
      return `${schema.type === "integer" ? "an integer" : "a number"}${range(schema)}`;
    case "string":
      return describeString(schema);
    case "array":
      return describeCount("array", "item", schema.minItems, schema.maxItems);
    case "object":
      return describeCount("object", "field", schema.minProperties, schema.maxProperties);
    case "boolean":
      return "true or false";
    case "null":
      return "null";
  }
}

function range({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: SchemaNode): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  const bounds: string[] = [];
  if (minimum !== undefined) bounds.push(`of ${minimum} or more`);
  if (exclusiveMinimum !== undefined) bounds.push(`greater than ${exclusiveMinimum}`);
  if (maximum !== undefined) bounds.push(`of ${maximum} or less`);
  if (exclusiveMaximum !== undefined) bounds.push(`less than ${exclusiveMaximum}`);
  return bounds.length === 0 ? "" : ` ${bounds.join(" and ")}`;
}

function describeString({ minLength = 0, maxLength, pattern }: SchemaNode): string {
  const article = minLength === 1 ? "a non-empty string" : "a string";
  const sizes: string[] = [];
  if (minLength > 1) sizes.push(`at least ${count(minLength, "character")}`);
  if (maxLength !== undefined) sizes.push(`at most ${count(maxLength, "character")}`);
  const size = sizes.length === 0 ? "" : ` of ${sizes.join(" and ")}`;
  return `${article}${size}${pattern === undefined ? "" : ` that matches ${pattern}`}`;
}

function describeCount(what: string, unit: string, min = 0, max?: number): string {
  if (min === 1 && max === undefined) return `a non-empty ${what}`;
  const sizes: string[] = [];
  if (min > 0) sizes.push(`at least ${count(min, unit)}`);
  if (max !== undefined) sizes.push(`at most ${count(max, unit)}`);
  return `an ${what}${sizes.length === 0 ? "" : ` of ${sizes.join(" and ")}`}`;
}

function count(n: number, unit: string): string {
  return `${n} ${unit}${n === 1 ? "" : "s"}`;
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.filter((value) => value !== null).map((value) => JSON.stringify(value));
  return shown.length === 1 ? (shown[0] as string) : `one of ${join(shown)}`;
}

function join(parts: readonly string[]): string {
  if (parts.length < 2) return parts[0] ?? "";
  return `${parts.slice(0, -1).join(", ")} or ${parts.at(-1)}`;
}
