import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type GgufSummary, readGguf, splitName } from "../../gguf/index.js";
import { toSomnusError } from "../../http/errors.js";
import { useOf } from "../hub/describe.js";
import { projectorRank } from "../hub/quantization.js";
import type { FoundFile, FoundModel, Shelf } from "./found.js";
import { idOf, quantOfFile, stemOfFile } from "./names.js";

/** The models of a shelf and what is wrong with the rest. */
export interface ReadShelf {
  models: FoundModel[];
  problems: { path: string; problem: string }[];
}

interface ReadFile {
  path: string;
  size: number;
  claimedSha256: string | null;
  gguf: GgufSummary;
}

/**
 * Reads the header of every GGUF file of a shelf and puts together what belongs together: the parts
 * of a split model, a model and its projector. Files that are broken, cut short or no models are
 * named among the problems.
 *
 * @throws the signal's reason when aborted
 */
export async function readShelf(shelf: Shelf, signal: AbortSignal): Promise<ReadShelf> {
  const result: ReadShelf = { models: [], problems: [] };
  const read: ReadFile[] = [];
  for (const { path, claimedSha256 } of shelf.files) {
    signal.throwIfAborted();
    try {
      const gguf = await readGguf(path, signal);
      read.push({ path, size: (await stat(path)).size, claimedSha256, gguf });
    } catch (error) {
      signal.throwIfAborted();
      result.problems.push({ path, problem: toSomnusError(error).message });
    }
  }

  const projectors = read.filter(({ gguf }) => isProjector(gguf));
  for (const group of groups(read.filter(({ gguf }) => isModel(gguf) || isLaterPart(gguf)))) {
    const incomplete = whatIsMissing(group);
    const first = group[0]!;
    if (incomplete !== null) result.problems.push({ path: first.path, problem: incomplete });
    else if (first.gguf.tensorCount === 0) {
      result.problems.push({ path: first.path, problem: "It holds no weights." });
    } else result.models.push(modelOf(shelf, group, projectorFor(first.gguf, projectors)));
  }
  tellApart(shelf, result.models);
  return result;
}

function isProjector(gguf: GgufSummary): boolean {
  return gguf.projector !== null || gguf.architecture === "clip" || gguf.type === "mmproj";
}

function isModel(gguf: GgufSummary): boolean {
  return !isProjector(gguf) && (gguf.type === null || gguf.type === "model");
}

/** Whether this is a part of a split model other than the first; those say nothing of the model. */
function isLaterPart(gguf: GgufSummary): boolean {
  return gguf.split !== null && gguf.split.index > 0;
}

/** The files by model: a split model's parts in their order, any other file for itself. */
function groups(files: readonly ReadFile[]): ReadFile[][] {
  const byName = new Map<string, ReadFile[]>();
  for (const file of files) {
    const { split } = file.gguf;
    const isPart = split !== null && split.count > 1;
    // Content addresses have no prefix in common; such a shelf is one model.
    const prefix = isPart ? (splitName(file.path)?.prefix ?? dirname(file.path)) : file.path;
    const key = isPart ? `${prefix}\0${split.count}` : prefix;
    byName.set(key, [...(byName.get(key) ?? []), file]);
  }
  return [...byName.values()].map((group) => group.sort((a, b) => partIndex(a) - partIndex(b)));
}

function partIndex({ gguf }: ReadFile): number {
  return gguf.split?.index ?? 0;
}

/** What a split model lacks or has twice, as a sentence; null when it is whole. */
function whatIsMissing(group: readonly ReadFile[]): string | null {
  const count = group[0]!.gguf.split?.count ?? 1;
  const here = new Set(group.map(partIndex));
  if (here.size !== group.length) return "Two of its files say that they are the same part.";
  const missing = Array.from({ length: count }, (_, index) => index).filter((i) => !here.has(i));
  if (missing.length === 0) return null;
  const parts = missing.slice(0, 5).map((index) => index + 1);
  const more = missing.length > parts.length ? ", ..." : "";
  return `Of its ${count} parts these are missing: ${parts.join(", ")}${more}.`;
}

/**
 * The projector that fits a model: one whose output is as wide as the model's embeddings (or a
 * multiple of it, where several layers are fed), 16-bit ones first.
 */
function projectorFor(model: GgufSummary, projectors: readonly ReadFile[]): ReadFile | null {
  const fitting = projectors.filter(({ gguf }) => {
    const width = (gguf.projector?.vision ?? gguf.projector?.audio)?.projectionLength ?? null;
    if (width === null || model.embeddingLength === null) return true;
    return width % model.embeddingLength === 0;
  });
  const rank = ({ gguf }: ReadFile) => projectorRank(gguf.quantization);
  return fitting.sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

function modelOf(shelf: Shelf, group: readonly ReadFile[], projector: ReadFile | null): FoundModel {
  const { path, gguf } = group[0]!;
  const isSplit = group.length > 1;
  const count = group.length;
  const files: FoundFile[] = group.map((file, index) => ({
    role: "weights",
    path: file.path,
    size: file.size,
    claimedSha256: file.claimedSha256,
    part: isSplit ? { number: index + 1, count } : null,
  }));
  if (projector !== null) {
    const { size, claimedSha256 } = projector;
    files.push({ role: "aux", path: projector.path, size, claimedSha256, part: null });
  }
  const quant = (shelf.anonymous ? null : quantOfFile(path)) ?? gguf.quantization;
  const hasSuffix = !shelf.isExactName && quant !== null;
  const name = hasSuffix ? `${shelf.name}:${quant}` : shelf.name;
  return {
    tool: shelf.tool,
    name,
    id: idOf(name) ?? "model",
    location: shelf.manifest ?? path,
    files,
    size: files.reduce((sum, file) => sum + file.size, 0),
    quant,
    architecture: gguf.architecture,
    license: gguf.license,
    ...useOf(gguf, projector?.gguf ?? null),
    caution: shelf.caution?.(gguf.architecture) ?? null,
    needsOwnNames: isSplit && !areNamedAsParts(group),
    converter: null,
    importedAs: null,
    copies: [],
  };
}

/** Whether llama.cpp finds the other parts from the first one's name. */
function areNamedAsParts(group: readonly ReadFile[]): boolean {
  const first = splitName(group[0]!.path);
  return (
    first !== null &&
    group.every((file, index) => {
      const split = splitName(file.path);
      return split?.prefix === first.prefix && split.number === index + 1;
    })
  );
}

/** Gives the models of a shelf that would have one name the names of their files as well. */
function tellApart(shelf: Shelf, models: readonly FoundModel[]): void {
  const counts = new Map<string, number>();
  for (const { name } of models) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const model of models) {
    if (counts.get(model.name) === 1) continue;
    const stem = stemOfFile(model.files[0]!.path);
    const suffix = model.quant === null ? "" : `:${model.quant}`;
    const folder = shelf.name === stem ? basename(dirname(model.files[0]!.path)) : stem;
    model.name = `${join(shelf.name, folder).replaceAll("\\", "/")}${suffix}`;
    model.id = idOf(model.name) ?? "model";
  }
}
