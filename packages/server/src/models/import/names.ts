import { basename, dirname } from "node:path";
import { splitName } from "../../gguf/index.js";
import { normalizeQuant, quantOfPath } from "../hub/quantization.js";

/** Longest id that a configuration takes. */
const MAX_ID_LENGTH = 128;

/** The quantization that a file's name says, or else its folder's; null without one. */
export function quantOfFile(path: string): string | null {
  return quantOfPath(`${basename(dirname(path))}/${withoutPart(basename(path))}`);
}

/** A file's name without the number of its part, its extension and its quantization at the end. */
export function stemOfFile(path: string): string {
  const stem = withoutPart(basename(path)).replace(/\.gguf$/i, "");
  const quant = quantOfPath(stem);
  for (let at = stem.search(/[-._]/); at > 0; at = next(stem, at)) {
    if (normalizeQuant(stem.slice(at + 1)) === quant) return stem.slice(0, at);
  }
  return stem;
}

function withoutPart(name: string): string {
  return splitName(name)?.prefix ?? name;
}

/** The place of the next mark between words after `at`; -1 without one. */
function next(text: string, at: number): number {
  const found = text.slice(at + 1).search(/[-._]/);
  return found < 0 ? -1 : at + 1 + found;
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
