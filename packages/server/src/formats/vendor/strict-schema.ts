import { isObject } from "./json.js";

/** Words under which further schemas stand, by name or in a list. */
const NAMED = ["properties", "$defs", "definitions"] as const;
const LISTED = ["anyOf"] as const;
/** What strict schemas cannot say. */
const UNKNOWN = ["allOf", "oneOf", "not", "if", "patternProperties", "propertyNames"];

/**
 * Whether OpenAI's vendors take a schema as a strict one: every object names all of its properties as required and
 * allows no others (<https://platform.openai.com/docs/guides/structured-outputs>). They refuse others as strict.
 */
export function isStrictSchema(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  if (UNKNOWN.some((word) => word in schema)) return false;
  const { properties, required, additionalProperties, items, type } = schema;
  if (isObject(properties) || type === "object") {
    const names = isObject(properties) ? Object.keys(properties) : [];
    const needed = new Set(Array.isArray(required) ? required : []);
    if (additionalProperties !== false || names.some((name) => !needed.has(name))) return false;
  }
  if (items !== undefined && !isStrictSchema(items)) return false;
  const inner = [
    ...NAMED.flatMap((word) => (isObject(schema[word]) ? Object.values(schema[word]) : [])),
    ...LISTED.flatMap((word) => (Array.isArray(schema[word]) ? schema[word] : [])),
  ];
  return inner.every(isStrictSchema);
}
