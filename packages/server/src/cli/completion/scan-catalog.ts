/** What completion needs of a model of the catalog. */
export interface ScannedModel {
  id: string;
  variants: { quant: string; files: { file: string; size: number | null }[] }[];
}

/** Tables of the catalog and the keys of theirs that are wanted. */
const WANTED: Readonly<Record<string, readonly string[]>> = {
  models: ["id"],
  "models.variants": ["quant"],
  "models.variants.files": ["file", "size"],
};
const HEADER = /^\s*\[\[?\s*([\w.-]+)\s*\]\]?\s*(?:#.*)?$/;
const PAIR = /^\s*(\w+)\s*=\s*(?:"([^"\\]*)"|([\d_]+))\s*(?:#.*)?$/;

/**
 * The ids, quantizations and files of a catalog by its lines: a whole TOML parser takes longer to
 * load and run than a person waits for a Tab. It reads what stands in tables with headers of their
 * own, one key a line, as our catalog does; the rest is passed over.
 */
export function scanCatalog(toml: string): ScannedModel[] {
  const models: ScannedModel[] = [];
  let table = "";
  for (const line of toml.split("\n")) {
    const header = HEADER.exec(line)?.[1];
    if (header !== undefined) table = header;
    if (header === "models") models.push({ id: "", variants: [] });
    const variants = models.at(-1)?.variants;
    if (header === "models.variants") variants?.push({ quant: "", files: [] });
    const files = variants?.at(-1)?.files;
    if (header === "models.variants.files") files?.push({ file: "", size: null });
    const [, key = "", text = "", digits] = PAIR.exec(line) ?? [];
    if (!WANTED[table]?.includes(key)) continue;
    if (key === "id") models.at(-1)!.id = text;
    else if (key === "quant" && variants?.length) variants.at(-1)!.quant = text;
    else if (key === "file" && files?.length) files.at(-1)!.file = text;
    else if (files?.length && digits !== undefined) {
      files.at(-1)!.size = Number(digits.replaceAll("_", ""));
    }
  }
  return models;
}
