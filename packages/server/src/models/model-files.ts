import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Modality } from "@somnus/contract";
import type { ModelConfig } from "../config/index.js";
import { ggufPartPaths } from "../gguf/index.js";
import { type CatalogModel, type CatalogVariant, defaultVariant } from "./catalog/index.js";
import { parseHubSpec } from "./hub/index.js";
import { type LibraryManifest, libraryFilePath } from "./library/index.js";

/** The files that a model of the pool is made of, and what to do when one is missing. */
export interface ModelFiles {
  /** Absolute; the first part of a split model. Null when nothing names one. */
  weights: string | null;
  /** Absolute; null for a model without one. */
  projector: string | null;
  /** What to do when a file is not there: a sentence, with no folder in it. */
  remedy: string;
}

/** What is known of a model beside its files, by whoever knows the files. */
export interface KnownUse {
  modality: Modality;
  additionalModalities: Modality[];
  engine: string;
  untested: boolean;
  /** Whether its vectors may be cut to fewer numbers. */
  matryoshka?: boolean;
}

/** The files that a `[[models]]` block names itself. */
export function namedFiles(block: ModelConfig, modelsDir: string): ModelFiles {
  return {
    weights: block.weights_path ? resolve(modelsDir, block.weights_path) : null,
    projector: block.aux_path ? resolve(modelsDir, block.aux_path) : null,
    remedy: block.weights_path
      ? "Put the file there, or correct weights_path in its [[models]] block."
      : parseHubSpec(block.id)
        ? `it is not installed; get it with: somnus pull ${block.id}`
        : "its block has no weights_path, and neither the catalog nor the library knows it.",
  };
}

/** The files of a variant of the catalog; what the block names goes before them. */
export function catalogFiles(
  { model, variant }: { model: CatalogModel; variant: CatalogVariant },
  block: ModelConfig | null,
  modelsDir: string,
): ModelFiles {
  return withNamed(block, modelsDir, {
    ...filesByRole(
      variant.files.map(({ role, file }) => ({ role, path: resolve(modelsDir, file) })),
    ),
    remedy: `Get it with: somnus pull ${model.id}${variant === defaultVariant(model) ? "" : `:${variant.quant}`}`,
  });
}

/** The files of a model of the library; what the block names goes before them. */
export function libraryFiles(
  manifest: LibraryManifest,
  block: ModelConfig | null,
  modelsDir: string,
): ModelFiles {
  const files = manifest.files.map((file) => ({
    role: file.role,
    path: libraryFilePath(modelsDir, file),
  }));
  return withNamed(block, modelsDir, { ...filesByRole(files), remedy: remedyFor(manifest) });
}

/** The use that the catalog knows of a model. */
export function catalogUse(model: CatalogModel): KnownUse {
  return {
    modality: model.modality,
    additionalModalities: model.additional_modalities ?? [],
    engine: model.engine,
    untested: !model.verified,
    ...(model.matryoshka === undefined ? {} : { matryoshka: model.matryoshka }),
  };
}

/** The use that the library knows of a model. */
export function libraryUse(manifest: LibraryManifest): KnownUse {
  return {
    modality: manifest.modality,
    additionalModalities: manifest.additional_modalities,
    engine: manifest.engine,
    untested: manifest.untested,
  };
}

/** Tells two states of a model's files apart, parts of a split model too; null when one is missing. */
export async function stampOf({ weights, projector }: ModelFiles): Promise<string | null> {
  if (weights === null) return null;
  const paths = [...ggufPartPaths(weights), ...(projector === null ? [] : [projector])];
  const states: string[] = [];
  for (const path of paths) {
    const file = await stat(path).catch(() => null);
    if (file === null) return null;
    states.push(`${file.ino} ${file.size} ${file.mtimeMs} ${file.ctimeMs}`);
  }
  return states.join("\n");
}

/** Whether no file of the model is missing. */
export async function isThere(files: ModelFiles): Promise<boolean> {
  return (await stampOf(files)) !== null;
}

function filesByRole(
  files: readonly { role: string; path: string }[],
): Pick<ModelFiles, "weights" | "projector"> {
  const first = (role: string) => files.find((file) => file.role === role)?.path ?? null;
  return { weights: first("weights") ?? files[0]?.path ?? null, projector: first("aux") };
}

function withNamed(block: ModelConfig | null, modelsDir: string, files: ModelFiles): ModelFiles {
  return block?.aux_path ? { ...files, projector: resolve(modelsDir, block.aux_path) } : files;
}

function remedyFor({ id, origin }: LibraryManifest): string {
  switch (origin.type) {
    case "huggingface":
      return `It was removed after it was installed; get it again with: somnus pull ${id}`;
    case "import":
      return `It was found where ${origin.tool} keeps its models, and is there no more; look again with: somnus import`;
    case "convert":
      return "It was removed after it was made; make it again with: somnus convert";
  }
}
