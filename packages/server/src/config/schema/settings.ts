import Type, { type TProperties } from "typebox";
import type { SettingKeywords } from "./keywords.js";

/** A table of fixed keys; any other key in it is an error. */
export const Table = <const P extends TProperties>(
  properties: P,
  keywords: SettingKeywords & { additionalProperties?: boolean },
) => Type.Object(properties, { additionalProperties: false, ...keywords });

export const Flag = (keywords: SettingKeywords) => Type.Boolean(keywords);

/** A string out of a fixed list. */
export const Choice = <const V extends readonly string[]>(values: V, keywords: SettingKeywords) =>
  Type.Unsafe<V[number]>({ type: "string", enum: [...values], ...keywords });

export const Text = (keywords: SettingKeywords & { pattern?: string; minLength?: number }) =>
  Type.String({ minLength: 1, ...keywords });

/** A whole number of bytes, at least one. */
export const Bytes = (keywords: SettingKeywords) =>
  Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, ...keywords });

/** The longest that a Node timer can wait: 2^31 - 1 ms, over 24 days; a longer one fires at once. */
const MAX_SECS = 2_147_483;

/** A duration in seconds; fractions are fine. */
export const Seconds = (
  keywords: SettingKeywords & { minimum?: number; exclusiveMinimum?: number },
) => Type.Number({ maximum: MAX_SECS, ...keywords });

/** A whole number from `minimum`, 0 if not given. */
export const Count = (keywords: SettingKeywords & { minimum?: number; maximum?: number }) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...keywords });

export const Fraction = (
  keywords: SettingKeywords & { minimum?: number; maximum?: number; exclusiveMinimum?: number },
) => Type.Number(keywords);

/** A file or folder. */
export const FilePath = (keywords: SettingKeywords) =>
  Type.String({
    minLength: 1,
    pattern: "^[^\\u0000]*$",
    must: "not contain a NUL character",
    ...keywords,
  });
