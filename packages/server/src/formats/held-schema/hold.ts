import { areExclusive } from "./exclusive.js";
import { jsonTextPattern, MOST_TIMES } from "./json-text-pattern.js";
import { Merger, saysMore, without } from "./merge.js";
import { ANYTHING, PatternFault, type PatternTree, patternTree } from "./pattern-tree.js";
import { isSchema, type Schema, SchemaFault, targetOf, typeOf, typesOf } from "./schema.js";
import { formatPattern } from "./string-formats.js";
import { lengthsOf, withLengths } from "./text-lengths.js";

/** More items than these are counted when the answer is there; a grammar would grow with their number. */
const MOST_ITEMS = 400;

/** Words that no grammar can be made of. */
const BEYOND = [
  "not",
  "if",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "contains",
  "patternProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
  "multipleOf",
  "$dynamicRef",
  "$recursiveRef",
];

/**
 * A schema in the small language that engines' grammars follow to the letter: everything that they would pass over in
 * silence is told in words that they know, or is refused. What fits it fits the schema as well, if it is also
 * within the bounds that `isWithinBounds` checks. Some of what would fit the schema does not fit this one.
 * @param schema valid as such, and no deeper than a format allows
 * @throws SchemaFault at what cannot be held to
 */
export function holdSchema(schema: Schema): Schema {
  const known = kept.get(schema);
  if (known !== undefined) return known;
  const held = new Holder(schema).document();
  kept.set(schema, held);
  return held;
}

/** One request asks for the same schema when it is read, for each of its answers, and when they are checked. */
const kept = new WeakMap<Schema, Schema>();

class Holder {
  readonly #root: Schema;
  readonly #merger: Merger;
  /** The held parts that references lead to, by the references. */
  readonly #definitions = new Map<string, { name: string; schema: Schema | null }>();

  constructor(root: Schema) {
    this.#root = root;
    this.#merger = new Merger(root);
  }

  document(): Schema {
    const held = this.#hold(this.#root, "#");
    const definitions = Object.fromEntries(
      [...this.#definitions.values()].map(({ name, schema }) => [name, schema ?? {}]),
    );
    return this.#definitions.size === 0 ? held : { ...held, $defs: definitions };
  }

  #hold(given: unknown, at: string): Schema {
    if (given === true) return {};
    if (!isSchema(given)) throw new SchemaFault(at, "can never be fulfilled");
    const schema = this.#merger.flat(given, at);
    if (schema.$ref !== undefined) return this.#reference(schema.$ref as string, at);
    for (const word of ["oneOf", "anyOf"] as const) {
      if (schema[word] !== undefined) return this.#alternatives(schema, word, at);
    }
    this.#requireKnown(schema, at);
    if ("const" in schema) return this.#values([schema.const], without(schema, "const"), at);
    if (Array.isArray(schema.enum)) return this.#values(schema.enum, without(schema, "enum"), at);
    const types = typesOf(schema);
    if (types === null) return {};
    const options = types.map((type) => this.#typed(schema, type, at));
    return options.length === 1 ? options[0]! : { anyOf: options };
  }

  #reference(reference: string, at: string): Schema {
    const known = this.#definitions.get(reference);
    if (known) return { $ref: `#/$defs/${known.name}` };
    const target = targetOf(this.#root, reference);
    if (target === undefined) throw new SchemaFault(at, "$ref leads nowhere");
    const definition = { name: `d${this.#definitions.size}`, schema: null as Schema | null };
    this.#definitions.set(reference, definition);
    definition.schema = this.#hold(target, reference);
    return { $ref: `#/$defs/${definition.name}` };
  }

  #alternatives(schema: Schema, word: "anyOf" | "oneOf", at: string): Schema {
    const options = this.#merger.distributed(schema, word, at);
    if (word === "oneOf" && !areExclusive(options, this.#root)) {
      throw new SchemaFault(
        `${at}/oneOf`,
        "its alternatives can fit at once, which cannot be ruled out; use anyOf",
      );
    }
    return { anyOf: options.map((option, index) => this.#hold(option, `${at}/${word}/${index}`)) };
  }

  #requireKnown(schema: Schema, at: string): void {
    for (const word of BEYOND) {
      const value = schema[word];
      if (value === undefined || (word.startsWith("unevaluated") && value === true)) continue;
      // Names of properties that are all spelled out cannot be others.
      if (word === "unevaluatedProperties" && value === false && isClosed(schema)) continue;
      if (word === "if" && schema.then === undefined && schema.else === undefined) continue;
      if (word === "patternProperties" && isClosed(schema) && !this.#reaches(schema)) continue;
      throw new SchemaFault(`${at}/${word}`, `${word} cannot be held to`);
    }
    if (
      schema.uniqueItems === true &&
      !(typeof schema.maxItems === "number" && schema.maxItems < 2)
    ) {
      throw new SchemaFault(`${at}/uniqueItems`, "uniqueItems cannot be held to");
    }
  }

  /** Whether a pattern of names is about a property that is spelled out. */
  #reaches({ patternProperties, properties }: Schema): boolean {
    return Object.keys(patternProperties as Schema).some((pattern) =>
      Object.keys((properties ?? {}) as Schema).some((name) => new RegExp(pattern).test(name)),
    );
  }

  /** Of a list of values those that the other words allow. */
  #values(values: readonly unknown[], rest: Schema, at: string): Schema {
    const allowed = saysMore(rest) ? values.filter((value) => isAllowed(value, rest, at)) : values;
    if (allowed.length === 0) throw new SchemaFault(at, "allows none of its values");
    return allowed.length === 1 ? { const: allowed[0] } : { enum: allowed };
  }

  #typed(schema: Schema, type: string, at: string): Schema {
    switch (type) {
      case "object":
        return this.#object(schema, at);
      case "array":
        return this.#array(schema, at);
      case "string":
        return this.#string(schema, at);
      case "integer":
        return integer(schema, at);
      case "number":
        return number(schema, at);
      default:
        return { type };
    }
  }

  #object(schema: Schema, at: string): Schema {
    const given = (schema.properties ?? {}) as Schema;
    const required = (schema.required ?? []) as string[];
    const open = schema.additionalProperties;
    const properties: [string, Schema][] = [];
    for (const [name, property] of Object.entries(given)) {
      // What may not be there is not written.
      if (property === false && !required.includes(name)) continue;
      properties.push([name, this.#hold(property, `${at}/properties/${name}`)]);
    }
    for (const name of new Set(required)) {
      if (Object.hasOwn(given, name)) continue;
      if (open === false)
        throw new SchemaFault(at, `requires ${JSON.stringify(name)}, which it does not allow`);
      properties.push([name, this.#hold(open ?? true, `${at}/additionalProperties`)]);
    }
    const isFree = !isClosed(schema);
    this.#requireNames(schema, isFree, at);
    this.#requireCount(
      schema,
      { isFree, names: properties.length, required: new Set(required).size },
      at,
    );
    const others = isFree && this.#hold(open ?? true, `${at}/additionalProperties`);
    if (properties.length === 0 && others && !saysMore(others)) return { type: "object" };
    return {
      type: "object",
      properties: Object.fromEntries(properties),
      ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
      additionalProperties: others,
    };
  }

  /** `propertyNames`: of a map it may only say what every name is, a text. */
  #requireNames({ propertyNames: names, properties }: Schema, isFree: boolean, at: string): void {
    if (names === undefined || names === true) return;
    const path = `${at}/propertyNames`;
    const isText =
      isSchema(names) && !saysMore(names, "type") && (names.type ?? "string") === "string";
    if (isText) return;
    if (isFree || !isSchema(names)) throw new SchemaFault(path, "propertyNames cannot be held to");
    for (const name of Object.keys((properties ?? {}) as Schema)) {
      if (!isAllowed(name, names, path)) {
        throw new SchemaFault(path, `does not allow the property ${JSON.stringify(name)}`);
      }
    }
  }

  #requireCount(
    schema: Schema,
    { isFree, names, required }: { isFree: boolean; names: number; required: number },
    at: string,
  ): void {
    const { minProperties: min, maxProperties: max } = schema;
    if (typeof min === "number" && min > required) {
      throw new SchemaFault(`${at}/minProperties`, "minProperties cannot be held to; use required");
    }
    if (typeof max === "number" && (isFree || max < names)) {
      throw new SchemaFault(`${at}/maxProperties`, "maxProperties cannot be held to");
    }
  }

  #array(schema: Schema, at: string): Schema {
    const { items, prefixItems } = schema;
    const min = (schema.minItems ?? 0) as number;
    const max = (schema.maxItems ?? Number.POSITIVE_INFINITY) as number;
    if (min > max) throw new SchemaFault(at, "has more minItems than maxItems");
    if (min > MOST_ITEMS) throw new SchemaFault(at, `needs more than ${MOST_ITEMS} items`);
    const [tuple, word] = Array.isArray(items)
      ? [items, "items"]
      : [prefixItems as unknown[] | undefined, "prefixItems"];
    if (tuple && tuple.length > 0) {
      const rest = Array.isArray(items) ? schema.additionalItems : items;
      const wanted = Math.max(min, Math.min(tuple.length, max));
      const all = Array.from({ length: wanted }, (_, index) =>
        index < tuple.length
          ? this.#hold(tuple[index], `${at}/${word}/${index}`)
          : this.#hold(rest ?? true, `${at}/items`),
      );
      return all.length === 0 ? EMPTY_LIST : { type: "array", prefixItems: all };
    }
    if (max === 0 || items === false) {
      if (min > 0) throw new SchemaFault(at, "needs items and allows none");
      return EMPTY_LIST;
    }
    return {
      type: "array",
      items: this.#hold(items === undefined || Array.isArray(items) ? true : items, `${at}/items`),
      ...(min > 0 ? { minItems: min } : {}),
      ...(max <= MOST_ITEMS
        ? { maxItems: max }
        : max < Number.POSITIVE_INFINITY
          ? { mostItems: max }
          : {}),
    };
  }

  #string(schema: Schema, at: string): Schema {
    const min = (schema.minLength ?? 0) as number;
    const max = (schema.maxLength ?? Number.POSITIVE_INFINITY) as number;
    if (min > max) throw new SchemaFault(at, "has more minLength than maxLength");
    const tree = textTree(schema, at);
    if (tree === null && min === 0 && max === Number.POSITIVE_INFINITY) return { type: "string" };
    const own = lengthsOf(tree ?? ANYTHING);
    if (own.min > max || own.max < min) throw new SchemaFault(at, "allows no length");
    const isBeyond = max > MOST_TIMES && max < own.max;
    const wanted = { min, max: isBeyond ? Number.POSITIVE_INFINITY : max };
    const fits = own.min >= wanted.min && own.max <= wanted.max;
    const fitted = fits ? (tree ?? ANYTHING) : withLengths(tree ?? ANYTHING, wanted);
    const left = lengthsOf(fitted);
    try {
      return {
        type: "string",
        pattern: jsonTextPattern(fitted),
        ...(left.min < min ? { leastLength: min } : {}),
        ...(left.max > max ? { mostLength: max } : {}),
      };
    } catch (error) {
      throw asSchemaFault(error, at);
    }
  }
}

const EMPTY_LIST: Schema = { type: "array", items: {}, maxItems: 0 };

/** What the pattern and the format of a text match; null where there is none. */
function textTree({ pattern, format }: Schema, at: string): PatternTree | null {
  let form: PatternTree | null = null;
  if (typeof format === "string") {
    const known = formatPattern(format);
    if (known === undefined) {
      throw new SchemaFault(`${at}/format`, `the format ${JSON.stringify(format)} is not known`);
    }
    if (known !== null) form = patternTree(`^(?:${known})$`);
  }
  if (typeof pattern !== "string" || pattern === "") return form;
  if (form !== null) {
    throw new SchemaFault(at, "has a pattern and a format; only one of them can be held to");
  }
  try {
    return patternTree(pattern);
  } catch (error) {
    throw asSchemaFault(error, `${at}/pattern`);
  }
}

function asSchemaFault(error: unknown, at: string): unknown {
  return error instanceof PatternFault
    ? new SchemaFault(at, `the pattern ${error.message}`)
    : error;
}

/** Bounds as they hold for numbers; as a boolean, an exclusive one belongs to an older draft. */
function boundsOf(schema: Schema): { min: number; max: number; above: number; below: number } {
  const most = Number.POSITIVE_INFINITY;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema as Record<string, number>;
  const isAbove = schema.exclusiveMinimum === true;
  const isBelow = schema.exclusiveMaximum === true;
  return {
    min: isAbove ? -most : (minimum ?? -most),
    max: isBelow ? most : (maximum ?? most),
    above: isAbove
      ? (minimum ?? -most)
      : typeof exclusiveMinimum === "number"
        ? exclusiveMinimum
        : -most,
    below: isBelow
      ? (maximum ?? most)
      : typeof exclusiveMaximum === "number"
        ? exclusiveMaximum
        : most,
  };
}

/** Ranges of the formats that numbers have. */
const NUMBER_FORMATS: Readonly<Record<string, readonly [number, number] | null>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: null,
  uint32: [0, 2 ** 32 - 1],
  uint64: [0, Number.POSITIVE_INFINITY],
  uint: [0, Number.POSITIVE_INFINITY],
  float: null,
  double: null,
  decimal: null,
};

function integer(schema: Schema, at: string): Schema {
  const { min, max, above, below } = boundsOf(schema);
  const range = rangeOfFormat(schema, at);
  const least = Math.max(Math.ceil(min), Math.floor(above) + 1, range[0]);
  const most = Math.min(Math.floor(max), Math.ceil(below) - 1, range[1]);
  if (least > most) throw new SchemaFault(at, "allows no number");
  for (const bound of [least, most]) {
    if (Number.isFinite(bound) && !Number.isSafeInteger(bound)) {
      throw new SchemaFault(at, "has a bound beyond the whole numbers that JSON holds exactly");
    }
  }
  return {
    type: "integer",
    ...(Number.isFinite(least) ? { minimum: least } : {}),
    ...(Number.isFinite(most) ? { maximum: most } : {}),
  };
}

/** Engines know no bounds of other numbers: these are checked when the answer is there. */
function number(schema: Schema, at: string): Schema {
  const { min, max, above, below } = boundsOf(schema);
  rangeOfFormat(schema, at);
  if (min > max || above >= max || min >= below || above >= below) {
    throw new SchemaFault(at, "allows no number");
  }
  return {
    type: "number",
    ...(Number.isFinite(min) ? { minimum: min } : {}),
    ...(Number.isFinite(max) ? { maximum: max } : {}),
    ...(Number.isFinite(above) ? { exclusiveMinimum: above } : {}),
    ...(Number.isFinite(below) ? { exclusiveMaximum: below } : {}),
  };
}

function rangeOfFormat({ format }: Schema, at: string): readonly [number, number] {
  const all = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const;
  if (typeof format !== "string") return all;
  if (!Object.hasOwn(NUMBER_FORMATS, format)) {
    throw new SchemaFault(
      `${at}/format`,
      `the format ${JSON.stringify(format)} is none of numbers`,
    );
  }
  return NUMBER_FORMATS[format] ?? all;
}

/** Whether a value that is listed is allowed by the words beside the list, as far as they are about simple values. */
function isAllowed(value: unknown, rest: Schema, at: string): boolean {
  const type = typeOf(value);
  const { type: said } = rest;
  const types = said === undefined ? null : typeof said === "string" ? [said] : (said as string[]);
  if (types && !types.includes(type) && !(type === "integer" && types.includes("number")))
    return false;
  if (type === "object" || type === "array") {
    if (saysMore(rest, "type")) throw new SchemaFault(at, "says more of values that are listed");
    return true;
  }
  if (typeof value === "number") {
    const { min, max, above, below } = boundsOf(rest);
    return value >= min && value <= max && value > above && value < below;
  }
  if (typeof value !== "string") return true;
  const length = [...value].length;
  if (typeof rest.minLength === "number" && length < rest.minLength) return false;
  if (typeof rest.maxLength === "number" && length > rest.maxLength) return false;
  if (Array.isArray(rest.enum) && !rest.enum.includes(value)) return false;
  if (typeof rest.pattern === "string") return new RegExp(rest.pattern).test(value);
  const form = typeof rest.format === "string" ? formatPattern(rest.format) : null;
  return form == null || new RegExp(`^(?:${form})$`).test(value);
}

/** Whether only properties that are spelled out are ever written. */
function isClosed({ properties, additionalProperties: open }: Schema): boolean {
  return open === false || (open === undefined && properties !== undefined);
}
