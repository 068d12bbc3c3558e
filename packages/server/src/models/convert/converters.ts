import { SomnusError } from "../../http/errors.js";
import type { Converter } from "./converter.js";
import { sentenceTransformersBert } from "./sentence-transformers/index.js";

/** All converters, the more particular first. */
export const converters: readonly Converter[] = [sentenceTransformersBert];

/** The first converter that takes the folder for its kind of model; null when none does. */
export async function findConverter(folder: string): Promise<Converter | null> {
  for (const converter of converters) {
    if (await converter.detect(folder)) return converter;
  }
  return null;
}

/** @throws SomnusError `invalid_request` when there is no converter of this id */
export function converterOf(id: string): Converter {
  const found = converters.find((converter) => converter.id === id);
  if (found) return found;
  const known = converters.map((converter) => converter.id).join(", ");
  throw new SomnusError(
    "invalid_request",
    `There is no converter ${JSON.stringify(id)}; known are: ${known}.`,
    { param: "converter" },
  );
}
