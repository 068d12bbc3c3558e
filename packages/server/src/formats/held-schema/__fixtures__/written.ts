import fc from "fast-check";
import { type Schema, targetOf } from "../schema.js";

/** Values that an engine's grammar of a held schema lets a model write; recursion ends at some depth. */
export function writtenBy(held: Schema): fc.Arbitrary<unknown> {
  return fitting(held, held, 6);
}

function fitting(schema: Schema, root: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const target = targetOf(root, schema.$ref)!;
    return depth > 0 ? fitting(target, root, depth - 1) : smallest(target, root);
  }
  if ("const" in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (Array.isArray(schema.anyOf)) {
    return fc.oneof(...(schema.anyOf as Schema[]).map((one) => fitting(one, root, depth - 1)));
  }
  switch (schema.type) {
    case "object":
      return objectOf(schema, root, depth);
    case "array":
      return arrayOf(schema, root, depth);
    case "string":
      return textOf(schema);
    case "integer":
      return fc.integer({
        min: (schema.minimum as number | undefined) ?? -1e6,
        max: (schema.maximum as number | undefined) ?? 1e6,
      });
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

/** A way out of a recursion: lists are empty, alternatives the last one. */
function smallest(schema: Schema, root: Schema): fc.Arbitrary<unknown> {
  if (schema.type === "array" && !schema.prefixItems && !schema.minItems) return fc.constant([]);
  if (schema.type === "object") {
    const required = (schema.required ?? []) as string[];
    const all = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
    const needed = all.filter(([name]) => required.includes(name));
    return fc.record(
      Object.fromEntries(needed.map(([name, one]) => [name, smallest(one, root)] as const)),
    );
  }
  if (Array.isArray(schema.anyOf)) return smallest((schema.anyOf as Schema[]).at(-1)!, root);
  return fitting(schema, root, 1);
}

function objectOf(schema: Schema, root: Schema, depth: number): fc.Arbitrary<unknown> {
  const all = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  const required = (schema.required ?? []) as string[];
  const optional = depth > 0 ? all : all.filter(([name]) => required.includes(name));
  const named = fc.record(
    Object.fromEntries(
      optional.map(([name, one]) => [name, fitting(one, root, depth - 1)] as const),
    ),
    { requiredKeys: required },
  );
  const open = schema.additionalProperties;
  if (open === false || open === undefined || depth <= 0) return named;
  const more = fc.dictionary(
    fc.stringMatching(/^x[a-z]{1,4}$/),
    fitting(open as Schema, root, depth - 1),
    {
      maxKeys: 2,
    },
  );
  return fc.tuple(more, named).map(([others, own]) => ({ ...others, ...own }));
}

function arrayOf(schema: Schema, root: Schema, depth: number): fc.Arbitrary<unknown> {
  const tuple = schema.prefixItems as Schema[] | undefined;
  if (tuple) return fc.tuple(...tuple.map((one) => fitting(one, root, depth - 1)));
  const minLength = (schema.minItems as number | undefined) ?? 0;
  const maxLength = Math.min(
    (schema.maxItems as number | undefined) ?? minLength + 3,
    minLength + 3,
  );
  return fc.array(fitting((schema.items ?? {}) as Schema, root, depth - 1), {
    minLength,
    maxLength,
  });
}

function textOf({ pattern }: Schema): fc.Arbitrary<unknown> {
  if (pattern === undefined)
    return fc.string({ unit: "binary" }).filter((text) => text.isWellFormed());
  const about = String(pattern).replace(/\\U0*([0-9A-F]+)/g, "\\u{$1}");
  return fc
    .stringMatching(new RegExp(about, "u"), { maxLength: 60 })
    .map((json) => JSON.parse(`"${json}"`) as string);
}
