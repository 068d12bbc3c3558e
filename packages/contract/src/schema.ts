import Type, { type Static, type TSchema, type TUnsafe } from "typebox";

/** An optional field for which JSON `null` means the same as leaving it out (SDKs send both). */
export const Maybe = <T extends TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** A union of string literals, as one `enum` schema: short in the OpenAPI document and in errors. */
export const OneOf = <const V extends readonly string[]>(
  values: V,
  options: Record<string, unknown> = {},
) => Type.Unsafe<V[number]>({ type: "string", enum: [...values], ...options });

/**
 * A schema known to the compiler by the type of its values alone. What a schema is made of is of
 * interest at run time only, and comparing it makes every build slow.
 */
export const Schema = <T extends TSchema>(schema: T): TUnsafe<Static<T>> =>
  schema as unknown as TUnsafe<Static<T>>;

export type { Static, TSchema };
