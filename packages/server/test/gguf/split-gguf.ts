import { join } from "node:path";
import { type GgufSource, u32, writeGguf } from "./write-gguf.js";

/** A model in parts, tensors dealt out evenly, as llama.cpp's gguf-split would write it. */
export function splitGguf({ metadata, tensors }: GgufSource, count: number): GgufSource[] {
  const each = Math.ceil(tensors.length / count);
  return Array.from({ length: count }, (_, i) => ({
    metadata: [
      ...(i === 0 ? metadata : []),
      ["split.no", u32(i)],
      ["split.count", u32(count)],
      ["split.tensors.count", u32(tensors.length)],
    ],
    tensors: tensors.slice(i * each, (i + 1) * each),
  }));
}

/** The file names of the parts of a split model. */
export function partNames(stem: string, count: number): string[] {
  const padded = (number: number) => String(number).padStart(5, "0");
  return Array.from(
    { length: count },
    (_, i) => `${stem}-${padded(i + 1)}-of-${padded(count)}.gguf`,
  );
}

/** Writes a model in parts into a folder and gives their paths. */
export async function writeSplitGguf(
  folder: string,
  stem: string,
  source: GgufSource,
  count: number,
): Promise<string[]> {
  const paths = partNames(stem, count).map((name) => join(folder, name));
  const parts = splitGguf(source, count);
  for (const [i, path] of paths.entries()) await writeGguf(path, parts[i]!);
  return paths;
}
