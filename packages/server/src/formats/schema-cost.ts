import { MOST_REPEATED } from "./schema-fault.js";

/** The most that one request's schemas may cost: an engine needs some seconds for it, and a tenth of a gigabyte. */
export const MOST_COST = 500_000;

const COUNTS = ["minLength", "maxLength", "minItems", "maxItems"];

/**
 * What an engine has to write down, about, to hold an answer to a schema: it makes a rule for each pair of
 * properties that may be missing, and for each repetition. 1,500 properties in one object took half a minute, in
 * which nobody else was served. Only as deep as a format lets a schema be.
 */
export function schemaCost(schema: unknown): number {
  if (typeof schema !== "object" || schema === null) return 0;
  if (Array.isArray(schema)) return schema.reduce((sum, one) => sum + schemaCost(one), 0);
  const own = schema as Readonly<Record<string, unknown>>;
  let cost = optionalProperties(own) ** 2;
  for (const key of COUNTS) {
    const count = own[key];
    if (typeof count === "number" && count > 0 && count <= MOST_REPEATED) cost += count;
  }
  for (const value of Object.values(own)) cost += schemaCost(value);
  return cost;
}

function optionalProperties({ properties, required }: Readonly<Record<string, unknown>>): number {
  if (typeof properties !== "object" || properties === null) return 0;
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  return Object.keys(properties).filter((name) => !needed.has(name)).length;
}
