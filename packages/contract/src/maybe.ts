import Type, { type Static, type TSchema } from "typebox";

/** An optional field for which JSON `null` means the same as leaving it out (SDKs send both). */
export const Maybe = <T extends TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** A union of string literals, as one `enum` schema: short in the OpenAPI document and in errors. */
export const OneOf = <const V extends readonly string[]>(
  values: V,
  options: Record<string, unknown> = {},
) => Type.Unsafe<V[number]>({ type: "string", enum: [...values], ...options });

export type { Static, TSchema };
