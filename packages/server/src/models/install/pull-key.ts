import type { CatalogVariant } from "../catalog/index.js";

/** What pulls of a variant are known by. No other variant begins with a file of the same name, unless it is the same. */
export function pullKeyOf({ files }: CatalogVariant): string {
  return files[0]!.file;
}
