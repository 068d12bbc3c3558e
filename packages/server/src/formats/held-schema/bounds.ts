import { isDeepStrictEqual } from "node:util";
import { isSchema, type Schema, targetOf, typeOf } from "./schema.js";

/** Steps of a check that are more than any answer needs whose schema is not made to be hard. */
const MOST_STEPS = 200_000;

/**
 * Whether an answer that a grammar of the held schema let through is also within the bounds which the grammar does not
 * know: those of numbers, and of lengths that are beyond it.
 * @returns a JSON pointer to what is not; null when all is
 */
export function outOfBounds(value: unknown, held: Schema): string | null {
  return new BoundsCheck(held).fault(value, held, "");
}

class BoundsCheck {
  #steps = 0;

  constructor(private readonly root: Schema) {}

  fault(value: unknown, schema: Schema, at: string): string | null {
    if (++this.#steps > MOST_STEPS) return at;
    if (schema.$ref !== undefined) {
      return this.fault(value, targetOf(this.root, schema.$ref) ?? {}, at);
    }
    if ("const" in schema) return isDeepStrictEqual(value, schema.const) ? null : at;
    if (Array.isArray(schema.enum)) {
      return schema.enum.some((one) => isDeepStrictEqual(value, one)) ? null : at;
    }
    if (Array.isArray(schema.anyOf)) return this.#anyOf(value, schema.anyOf as Schema[], at);
    const type = typeOf(value);
    if (!isOfType(type, schema)) return at;
    switch (type) {
      case "object":
        return this.#object(value as Schema, schema, at);
      case "array":
        return this.#array(value as unknown[], schema, at);
      case "string":
        return hasLength(value as string, schema) ? null : at;
      case "integer":
      case "number":
        return isWithin(value as number, schema) ? null : at;
      default:
        return null;
    }
  }

  #anyOf(value: unknown, options: readonly Schema[], at: string): string | null {
    let first: string | null = null;
    for (const option of options) {
      const fault = this.fault(value, option, at);
      if (fault === null) return null;
      first ??= fault;
    }
    return first ?? at;
  }

  #object(value: Schema, schema: Schema, at: string): string | null {
    const properties = (schema.properties ?? {}) as Schema;
    for (const name of (schema.required ?? []) as string[]) {
      if (!Object.hasOwn(value, name)) return at;
    }
    for (const [name, member] of Object.entries(value)) {
      const own = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
      if (own === false) return `${at}/${name}`;
      const fault = isSchema(own) ? this.fault(member, own, `${at}/${name}`) : null;
      if (fault !== null) return fault;
    }
    return null;
  }

  #array(value: readonly unknown[], schema: Schema, at: string): string | null {
    if (typeof schema.mostItems === "number" && value.length > schema.mostItems) return at;
    const tuple = schema.prefixItems as Schema[] | undefined;
    for (const [index, item] of value.entries()) {
      const own = tuple ? tuple[index] : schema.items;
      const fault = isSchema(own) ? this.fault(item, own, `${at}/${index}`) : null;
      if (fault !== null) return fault;
    }
    return null;
  }
}

/** Enough to tell alternatives apart. */
function isOfType(type: string, schema: Schema): boolean {
  return (
    schema.type === undefined ||
    schema.type === type ||
    (schema.type === "number" && type === "integer")
  );
}

function hasLength(text: string, { leastLength, mostLength }: Schema): boolean {
  if (typeof leastLength !== "number" && typeof mostLength !== "number") return true;
  const { length } = [...text];
  return length >= Number(leastLength ?? 0) && length <= Number(mostLength ?? length);
}

function isWithin(value: number, schema: Schema): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema as Record<string, number>;
  return (
    value >= (minimum ?? value) &&
    value <= (maximum ?? value) &&
    (exclusiveMinimum === undefined || value > exclusiveMinimum) &&
    (exclusiveMaximum === undefined || value < exclusiveMaximum)
  );
}
