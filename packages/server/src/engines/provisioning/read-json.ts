import { readFile } from "node:fs/promises";
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";

/** The content of a JSON file of ours; null when there is none, or it is not whole or of another shape. */
export async function readJson<Shape extends TSchema>(
  file: string,
  shape: Shape,
): Promise<Static<Shape> | null> {
  try {
    const content: unknown = JSON.parse(await readFile(file, "utf8"));
    return Value.Check(shape, content) ? content : null;
  } catch {
    return null;
  }
}
