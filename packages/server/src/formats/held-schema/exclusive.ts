import { isSchema, type Schema, targetOf, typeOf, typesOf } from "./schema.js";

/**
 * Whether what is written to fit one schema surely fits no other of the list, so that "exactly one" is the same as
 * "one of them". What is written has no property that its schema does not name.
 */
export function areExclusive(schemas: readonly Schema[], root: Schema): boolean {
  const resolved = schemas.map((schema) => resolve(schema, root));
  return resolved.every((one, at) =>
    resolved.every((other, beside) => at === beside || excludes(one, other, root)),
  );
}

function excludes(written: Schema, other: Schema, root: Schema): boolean {
  if (differ(written, other)) return true;
  const [own, theirs] = [written, other].map(({ properties }) => (properties ?? {}) as Schema);
  const required = (written.required ?? []) as string[];
  for (const name of required) {
    const mine = Object.hasOwn(own!, name) ? own![name] : undefined;
    if (!Object.hasOwn(theirs!, name)) {
      if (other.additionalProperties === false) return true;
      continue;
    }
    const [a, b] = [mine, theirs![name]];
    if (isSchema(a) && isSchema(b) && differ(resolve(a, root), resolve(b, root))) return true;
  }
  const isClosed = written.properties !== undefined && !isOpen(written.additionalProperties);
  return (
    isClosed && ((other.required ?? []) as string[]).some((name) => !Object.hasOwn(own!, name))
  );
}

/** Whether no value fits both, by their types or by the values that they list. */
function differ(a: Schema, b: Schema): boolean {
  const [one, other] = [valuesOf(a), valuesOf(b)];
  if (one && other) return one.every((value) => !other.includes(value));
  const [mine, theirs] = [kindsOf(a), kindsOf(b)];
  if (mine === null || theirs === null) return false;
  return mine.every((kind) => !theirs.includes(kind));
}

function valuesOf(schema: Schema): string[] | null {
  if ("const" in schema) return [JSON.stringify(schema.const)];
  return Array.isArray(schema.enum) ? schema.enum.map((value) => JSON.stringify(value)) : null;
}

function kindsOf(schema: Schema): string[] | null {
  const values = valuesOf(schema);
  const kinds = values ? values.map((value) => typeOf(JSON.parse(value))) : typesOf(schema);
  return kinds === null ? null : kinds.map((kind) => (kind === "integer" ? "number" : kind));
}

function isOpen(additional: unknown): boolean {
  return additional === true || isSchema(additional);
}

function resolve(schema: Schema, root: Schema): Schema {
  let found = schema;
  for (let step = 0; found.$ref !== undefined && step < 8; step++) {
    found = targetOf(root, found.$ref) ?? {};
  }
  return found;
}
