import { posix } from "node:path";
import type { ArtifactSpec } from "../../artifacts/index.js";
import type {
  Catalog,
  CatalogFile,
  CatalogVariant,
  ConversionInput,
  ConvertedFile,
  FetchedFile,
} from "./schema.js";

/** The architectures of the models that were run with this version, sorted. */
export function testedArchitectures(catalog: Catalog): string[] {
  const verified = catalog.models.filter((model) => model.verified);
  return [...new Set(verified.map((model) => model.architecture))].sort();
}

/** Bytes that a variant takes on the disk; null when one of its files has no known size. */
export function variantSize(variant: CatalogVariant): number | null {
  return sum(variant.files);
}

/**
 * Bytes that are to be fetched for a variant, which is more than its own where a file is converted;
 * null when one of them has no known size.
 */
export function downloadSize(variant: CatalogVariant): number | null {
  return sum(variant.files.flatMap((file) => (isConverted(file) ? file.convert.inputs : [file])));
}

function sum(files: readonly { size?: number }[]): number | null {
  let total = 0;
  for (const { size } of files) {
    if (size === undefined) return null;
    total += size;
  }
  return total;
}

/** Whether a file is made here rather than fetched. */
export function isConverted(file: CatalogFile): file is ConvertedFile {
  return "convert" in file;
}

/**
 * A file as something to fetch or to look for, by its name without folders. A converted one has no source:
 * it is only looked for.
 */
export function artifactOf(file: FetchedFile | ConvertedFile | ConversionInput): ArtifactSpec {
  return {
    file: posix.basename(file.file),
    size: file.size ?? null,
    sha256: file.sha256 ?? null,
    sources: "sources" in file ? file.sources : [],
  };
}
