import { basename, dirname } from "node:path";
import { normalizeQuant, quantOfPath } from "../hub/quantization.js";

const SPLIT = /-(\d{5})-of-(\d{5})\.gguf$/i;

/** Longest id that a configuration takes. */
const MAX_ID_LENGTH = 128;

/** The quantization that a file's name says, or else its folder's; null without one. */
export function quantOfFile(path: string): string | null {
  return quantOfPath(`${basename(dirname(path))}/${basename(path).replace(SPLIT, "")}`);
}

/** A file's name without the number of its part, its extension and its quantization at the end. */
export function stemOfFile(path: string): string {
  const stem = basename(path)
    .replace(SPLIT, "")
    .replace(/\.gguf$/i, "");
  const quant = quantOfPath(stem);
  for (let at = stem.search(/[-._]/); at > 0; at = next(stem, at)) {
    if (normalizeQuant(stem.slice(at + 1)) === quant) return stem.slice(0, at);
  }
  return stem;
}

/** The place of the next mark between words after `at`; -1 without one. */
function next(text: string, at: number): number {
  const found = text.slice(at + 1).search(/[-._]/);
  return found < 0 ? -1 : at + 1 + found;
}

/**
 * What the parts of a split model have in common in their names, and which of them `path` is
 * (llama.cpp's `llama_split_path`); null for a name of another form.
 */
export function splitName(path: string): { prefix: string; number: number; count: number } | null {
  const found = SPLIT.exec(path);
  if (found === null) return null;
  const number = Number(found[1]);
  const count = Number(found[2]);
  if (number < 1 || number > count) return null;
  return { prefix: path.slice(0, found.index), number, count };
}

/** The name that part `number` of `count` bears, so that llama.cpp finds the others from the first. */
export function partName(prefix: string, number: number, count: number): string {
  const digits = (value: number) => String(value).padStart(5, "0");
  return `${prefix}-${digits(number)}-of-${digits(count)}.gguf`;
}

/**
 * A name with only what a model's id may hold: letters, digits and `. _ : / -`, no empty or dotted
 * step between slashes. Null when nothing is left.
 */
export function idOf(name: string): string | null {
  const id = name
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .replace(/[^A-Za-z0-9._:/-]+/g, "-")
    .split("/")
    .map((step) => step.replace(/^[^A-Za-z0-9]+/, ""))
    .filter((step) => step !== "")
    .join("/")
    .slice(0, MAX_ID_LENGTH)
    .replace(/[^A-Za-z0-9]+$/, "");
  return id === "" ? null : id;
}

/** The first of `id`, `id-<tool>`, `id-<tool>-2`, ... that `isFree`. */
export function freeId(id: string, tool: string, isFree: (id: string) => boolean): string {
  if (isFree(id)) return id;
  for (let number = 1; ; number++) {
    const ending = `-${tool}${number === 1 ? "" : `-${number}`}`;
    const candidate = id.slice(0, MAX_ID_LENGTH - ending.length) + ending;
    if (isFree(candidate)) return candidate;
  }
}

/** A file name, without extension, made of an id. */
export function fileStemOf(id: string): string {
  return id.replaceAll("/", "__").replaceAll(":", "_");
}
