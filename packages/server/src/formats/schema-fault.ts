import { stepsOf } from "./held-schema/index.js";
import { isObject } from "./is-object.js";

/** Where a schema is wrong, as a JSON pointer into it ("#/properties/a"), and why. */
export interface SchemaFault {
  at: string;
  why: string;
}

type Schema = Readonly<Record<string, unknown>>;

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
const COUNTS = ["minLength", "maxLength", "minItems", "maxItems"];
/** No grammar asks for more repetitions; where it allows more, it allows any number. */
export const MOST_REPEATED = 2_000;
const BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
const ALTERNATIVES = ["anyOf", "oneOf", "allOf"];

/**
 * The first thing in a schema that no grammar can be made of: a word used in a wrong way, a reference that leads
 * nowhere, a pattern that is none. Words that are not known are passed over. Only as deep as a format lets a
 * schema be.
 */
export function schemaFault(schema: unknown): SchemaFault | null {
  const document: Document = { root: schema, places: new Map([["#", schema]]) };
  // What a reference leads to joins the places while they are gone through: never twice, and not by recursion.
  for (const [at, place] of document.places) {
    const fault = faultAt(place, at, document);
    if (fault !== null) return fault;
  }
  return null;
}

/** A schema, and the places in it that are to be looked at by themselves. */
interface Document {
  root: unknown;
  places: Map<string, unknown>;
}

function faultAt(schema: unknown, at: string, document: Document): SchemaFault | null {
  if (!isObject(schema)) return { at, why: "a schema must be an object" };
  const why = typeFault(schema) ?? valueFault(schema) ?? stringFault(schema);
  if (why !== null) return { at, why };
  if (schema.$ref !== undefined) {
    const fault = referenceFault(schema.$ref, document);
    return fault === null ? null : { at, why: fault };
  }
  return objectFault(schema, at, document) ?? listFault(schema, at, document);
}

function typeFault({ type }: Schema): string | null {
  if (type === undefined) return null;
  const types = Array.isArray(type) ? type : [type];
  if (types.length === 0) return "type must not be empty";
  const odd = types.find((one) => !TYPES.includes(one as string));
  return odd === undefined ? null : `type must be one of ${TYPES.join(", ")}`;
}

function valueFault(schema: Schema): string | null {
  const { enum: values } = schema;
  if (values !== undefined && !(Array.isArray(values) && values.length > 0)) {
    return "enum must be a list that is not empty";
  }
  for (const key of COUNTS) {
    const value = schema[key];
    if (value === undefined) continue;
    if (!(Number.isSafeInteger(value) && (value as number) >= 0)) {
      return `${key} must be a whole number, 0 or more`;
    }
    if (key.startsWith("min") && (value as number) > MOST_REPEATED) {
      return `${key} must not be above ${MOST_REPEATED}`;
    }
  }
  for (const key of BOUNDS) {
    const value = schema[key];
    // As a boolean it belongs to an older draft, and to the bound beside it.
    if (value !== undefined && typeof value !== "number" && typeof value !== "boolean") {
      return `${key} must be a number`;
    }
  }
  return null;
}

function stringFault({ pattern, format }: Schema): string | null {
  if (format !== undefined && typeof format !== "string") return "format must be a text";
  if (pattern === undefined) return null;
  if (typeof pattern !== "string") return "pattern must be a text";
  try {
    new RegExp(pattern);
    return null;
  } catch {
    return "pattern is no regular expression";
  }
}

/** Of a reference: where it leads has to be in the same document. */
function referenceFault(reference: unknown, { root, places }: Document): string | null {
  if (typeof reference !== "string") return "$ref must be a text";
  if (reference !== "#" && !reference.startsWith("#/")) {
    return '$ref must lead to a place in this schema, such as "#/$defs/name"';
  }
  let target = root;
  for (const step of stepsOf(reference)) {
    target = target !== null && typeof target === "object" ? own(target, step) : undefined;
    if (target === undefined) return `$ref ${quoted(reference)} leads nowhere`;
  }
  if (!isObject(target)) return `$ref ${quoted(reference)} leads to what is no schema`;
  places.set(reference, target);
  return null;
}

function objectFault(schema: Schema, at: string, document: Document): SchemaFault | null {
  const { properties, required, additionalProperties: others } = schema;
  if (required !== undefined) {
    const isList = Array.isArray(required) && required.every((name) => typeof name === "string");
    if (!isList) return { at, why: "required must be a list of texts" };
  }
  if (properties !== undefined && !isObject(properties)) {
    return { at, why: "properties must be an object" };
  }
  for (const [name, property] of Object.entries(properties ?? {})) {
    const fault = faultAt(property, `${at}/properties/${name}`, document);
    if (fault !== null) return fault;
  }
  if (others === undefined || typeof others === "boolean") return null;
  if (!isObject(others)) return { at, why: "additionalProperties must be a boolean or a schema" };
  return faultAt(others, `${at}/additionalProperties`, document);
}

function listFault(schema: Schema, at: string, document: Document): SchemaFault | null {
  for (const key of ["items", "prefixItems"]) {
    const items = schema[key];
    // `false` says that there are no more of them.
    if (items === undefined || typeof items === "boolean") continue;
    const fault = Array.isArray(items)
      ? eachFault(items, `${at}/${key}`, document)
      : faultAt(items, `${at}/${key}`, document);
    if (fault !== null) return fault;
  }
  for (const key of ALTERNATIVES) {
    const schemas = schema[key];
    if (schemas === undefined) continue;
    if (!Array.isArray(schemas) || schemas.length === 0) {
      return { at, why: `${key} must be a list of schemas that is not empty` };
    }
    const fault = eachFault(schemas, `${at}/${key}`, document);
    if (fault !== null) return fault;
  }
  return null;
}

function eachFault(
  schemas: readonly unknown[],
  at: string,
  document: Document,
): SchemaFault | null {
  for (const [index, schema] of schemas.entries()) {
    const fault = faultAt(schema, `${at}/${index}`, document);
    if (fault !== null) return fault;
  }
  return null;
}

function own(value: object, key: string): unknown {
  return Object.hasOwn(value, key) ? (value as Schema)[key] : undefined;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
