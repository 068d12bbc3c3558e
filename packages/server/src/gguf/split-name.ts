/** As llama.cpp's gguf-split names the parts of a model (`llama_split_path`): the first is what an engine is given. */
const PART = /^(.+)-(\d{5})-of-(\d{5})(\.gguf)$/is;

/** What a part of a split model says by its name or path. */
export interface SplitName {
  /** What all parts have in common. */
  prefix: string;
  /** Counted from 1. */
  number: number;
  count: number;
  extension: string;
}

/** Which part of a split model a name or path is; null for one of another form. */
export function splitName(path: string): SplitName | null {
  const [, prefix, number, count, extension] = PART.exec(path) ?? [];
  if (prefix === undefined || extension === undefined) return null;
  const split = { prefix, number: Number(number), count: Number(count), extension };
  return split.number < 1 || split.number > split.count ? null : split;
}

/** The name that part `number` of `count` bears, so that llama.cpp finds the others from the first. */
export function partName(
  prefix: string,
  number: number,
  count: number,
  extension = ".gguf",
): string {
  return `${prefix}-${padded(number)}-of-${padded(count)}${extension}`;
}

/** A number as it stands in such a name. */
export function padded(number: number): string {
  return String(number).padStart(5, "0");
}
