/** The part of JSON Schema that the wire's schemas are written in. */
export interface SchemaNode {
  readonly $id?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

/**
 * A copy of a schema as plain JSON, in which `replace` may put something else in the place of any
 * schema that carries an `$id`; the copy of the node (its own parts already replaced) goes in.
 */
export function copySchema(
  schema: unknown,
  replace: (id: string, node: Record<string, unknown>) => Record<string, unknown>,
): unknown {
  if (Array.isArray(schema)) return schema.map((item) => copySchema(item, replace));
  if (typeof schema !== "object" || schema === null) return schema;
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (value !== undefined) copy[key] = copySchema(value, replace);
  }
  return typeof copy.$id === "string" ? replace(copy.$id, copy) : copy;
}
