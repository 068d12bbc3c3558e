import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { readJson } from "../../files/index.js";

/** The content of a JSON file of ours; null when there is none, or it is not whole or of another shape. */
export async function readShaped<Shape extends TSchema>(
  file: string,
  shape: Shape,
): Promise<Static<Shape> | null> {
  const content = await readJson(file);
  return Value.Check(shape, content) ? content : null;
}
