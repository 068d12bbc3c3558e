import { isSchema, type Schema, SchemaFault, targetOf, typesOf } from "./schema.js";

/** Words that say nothing of a value. */
const REMARKS = new Set([
  "title",
  "description",
  "default",
  "examples",
  "example",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
  "$schema",
  "$id",
  "$anchor",
  "$defs",
  "definitions",
]);
const HIGHEST = new Set(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"]);
const LOWEST = new Set(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"]);
/** Alternatives that may come of several lists of them. */
const MOST_ALTERNATIVES = 64;
/** A schema that is made of itself is found out so late. */
const DEEPEST = 32;

/** Whether a schema says more than its remarks and the words that are named. */
export function saysMore(schema: Schema, ...words: string[]): boolean {
  return Object.keys(schema).some((key) => !REMARKS.has(key) && !words.includes(key));
}

/** Without one of its words. */
export function without(schema: Schema, ...words: string[]): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !words.includes(key)));
}

/** Makes one schema of several that a value has to fit all of. */
export class Merger {
  constructor(private readonly root: Schema) {}

  /**
   * Without `allOf`, and without a reference beside other words.
   * @throws SchemaFault where that cannot be told by one schema
   */
  flat(schema: Schema, at: string, depth = 0): Schema {
    if (depth > DEEPEST) throw new SchemaFault(at, "is made of itself");
    if (schema.$ref !== undefined && saysMore(schema, "$ref")) {
      const target = this.#target(schema, at);
      return this.#merged([target, without(schema, "$ref")], at, depth);
    }
    if (schema.allOf === undefined) return schema;
    const all = schema.allOf as Schema[];
    return this.#merged([without(schema, "allOf"), ...all], at, depth);
  }

  /** Its alternatives with what stands beside them. */
  distributed(schema: Schema, word: "anyOf" | "oneOf", at: string): Schema[] {
    const rest = without(schema, word);
    return (schema[word] as Schema[]).map((option) =>
      saysMore(rest) ? this.#merge(this.#plain(option, at, 0), rest, at, 0) : option,
    );
  }

  #target(schema: Schema, at: string): Schema {
    const target = targetOf(this.root, schema.$ref);
    if (target === undefined) throw new SchemaFault(at, "$ref leads nowhere");
    return target;
  }

  /** Neither a reference nor made of others. */
  #plain(schema: Schema, at: string, depth: number): Schema {
    const flat = this.flat(schema, at, depth + 1);
    return flat.$ref === undefined ? flat : this.#plain(this.#target(flat, at), at, depth + 1);
  }

  #merged(schemas: readonly Schema[], at: string, depth: number): Schema {
    const saying = schemas.filter((schema) => saysMore(schema));
    if (saying.length === 1) return this.flat(saying[0]!, at, depth + 1);
    return saying
      .map((schema) => this.#plain(schema, at, depth))
      .reduce((a, b) => this.#merge(a, b, at, depth), {});
  }

  #merge(a: Schema, b: Schema, at: string, depth: number): Schema {
    if (depth > DEEPEST) throw new SchemaFault(at, "is made of itself");
    for (const word of ["anyOf", "oneOf"] as const) {
      const [one, other] = word in a ? [a, b] : [b, a];
      if (!(word in one) || !saysMore(other)) continue;
      const options = (one[word] as Schema[]).map((option) => {
        const whole = this.#merge(
          without(one, word),
          this.#plain(option, at, depth),
          at,
          depth + 1,
        );
        return this.#merge(whole, other, at, depth + 1);
      });
      if (options.length > MOST_ALTERNATIVES)
        throw new SchemaFault(at, "has too many alternatives");
      return { [word]: options };
    }
    const merged: Record<string, unknown> = { ...a };
    for (const [key, value] of Object.entries(b)) {
      if (REMARKS.has(key)) continue;
      const own = merged[key];
      merged[key] = own === undefined ? value : this.#both(key, own, value, at, depth);
    }
    const types = typesInBoth(a, b, at);
    if (types !== null) merged.type = types;
    if (merged.properties !== undefined) merged.properties = this.#properties(a, b, at, depth);
    return merged;
  }

  #both(key: string, a: unknown, b: unknown, at: string, depth: number): unknown {
    if (JSON.stringify(a) === JSON.stringify(b)) return a;
    if (HIGHEST.has(key)) return Math.max(a as number, b as number);
    if (LOWEST.has(key)) return Math.min(a as number, b as number);
    switch (key) {
      case "type":
      case "properties":
        return a;
      case "required":
        return [...new Set([...(a as string[]), ...(b as string[])])];
      case "enum": {
        const known = new Set((b as unknown[]).map((value) => JSON.stringify(value)));
        return (a as unknown[]).filter((value) => known.has(JSON.stringify(value)));
      }
      case "uniqueItems":
        return true;
      case "additionalProperties":
      case "items":
        if (a === false || b === false) return false;
        if (a === true) return b;
        if (b === true) return a;
        if (!isSchema(a) || !isSchema(b)) break;
        return this.#merge(
          this.#plain(a, at, depth),
          this.#plain(b, at, depth),
          `${at}/${key}`,
          depth + 1,
        );
    }
    throw new SchemaFault(at, `has two different words for ${key} that have to hold both`);
  }

  #properties(a: Schema, b: Schema, at: string, depth: number): Schema {
    const properties: Record<string, unknown> = {};
    const [own, others] = [a, b].map(({ properties: all }) => (all ?? {}) as Schema);
    for (const name of new Set([...Object.keys(own!), ...Object.keys(others!)])) {
      const found = [
        [a, own!],
        [b, others!],
      ].map(([schema, all]) =>
        Object.hasOwn(all!, name) ? all![name] : (schema!.additionalProperties ?? true),
      );
      const [one, other] = found;
      const path = `${at}/properties/${name}`;
      let both: unknown;
      if (one === false || other === false) both = false;
      else if (one === true || !isSchema(one)) both = other;
      else if (other === true || !isSchema(other)) both = one;
      else
        both = this.#merge(
          this.#plain(one, path, depth),
          this.#plain(other, path, depth),
          path,
          depth + 1,
        );
      Object.defineProperty(properties, name, { value: both, enumerable: true });
    }
    return properties;
  }
}

function typesInBoth(a: Schema, b: Schema, at: string): string | readonly string[] | null {
  const [one, other] = [a, b].map((schema) => (saysMore(schema) ? typesOf(schema) : null));
  if (!one || !other) return one ?? other ?? null;
  const both = one.flatMap((type) => {
    if (other.includes(type) || (type === "integer" && other.includes("number"))) return [type];
    return type === "number" && other.includes("integer") ? ["integer"] : [];
  });
  if (both.length === 0) throw new SchemaFault(at, "has to be of two types at once");
  return both.length === 1 ? both[0]! : both;
}
