import { createArtifacts } from "../artifacts/index.js";
import {
  type CatalogModel,
  type CatalogVariant,
  defaultVariant,
  downloadSize,
  isInstalled,
  readCatalog,
  variantSize,
} from "../models/index.js";
import { nearest } from "../spelling/index.js";
import { EXIT, usageError } from "./failure.js";
import type { Io } from "./io.js";
import { tableLines } from "./layout.js";
import { bytesText, countText } from "./quantities.js";
import { type CommonOptions, loadSettings, serverEnvironment } from "./settings.js";

export interface CatalogOptions extends CommonOptions {
  search?: string;
  installed?: boolean;
  modality?: string;
  json?: boolean;
}

/** One quantization of a model of the catalog. */
export interface CatalogRow {
  id: string;
  quant: string;
  /** Taken when no quant is named. */
  default: boolean;
  name: string;
  publisher: string;
  license: string;
  /** Whether it was run with this version. */
  tested: boolean;
  modality: string;
  additional_modalities: string[];
  capabilities: string[];
  architecture: string;
  parameters: number | null;
  context_length: number | null;
  /** Bytes on the disk; null when the source has not told. */
  size: number | null;
  /** Bytes to fetch: more than the size where files are converted. */
  download_size: number | null;
  /** Whether its repository asks for an account that accepted the licence. */
  gated: boolean;
  installed: boolean;
  summary: string;
}

/** `somnus catalog`: what can be had; works without a server and without a network. */
export async function catalog(io: Io, options: CatalogOptions): Promise<number> {
  const { config } = await loadSettings(io, options);
  const { models } = await readCatalog();
  const modality = options.modality === undefined ? null : modalityOf(models, options.modality);
  const words = (options.search ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const artifacts = createArtifacts({ env: serverEnvironment(io.env) });
  const rows: CatalogRow[] = [];
  for (const model of models) {
    if (modality !== null && !modalitiesOf(model).includes(modality)) continue;
    for (const variant of model.variants) {
      const row = rowOf(model, variant);
      if (!matches(row, words)) continue;
      row.installed = await isInstalled(variant, artifacts, config.pool.models_dir);
      if (row.installed || !options.installed) rows.push(row);
    }
  }
  if (options.json) io.out.json(rows);
  else print(io, rows, options);
  return EXIT.ok;
}

function rowOf(model: CatalogModel, variant: CatalogVariant): CatalogRow {
  return {
    id: model.id,
    quant: variant.quant,
    default: variant === defaultVariant(model),
    name: model.name,
    publisher: model.publisher,
    license: model.license,
    tested: model.verified,
    modality: model.modality,
    additional_modalities: [...(model.additional_modalities ?? [])],
    capabilities: [...model.capabilities],
    architecture: model.architecture,
    parameters: model.parameters ?? null,
    context_length: model.context_length ?? null,
    size: variantSize(variant),
    download_size: downloadSize(variant),
    gated: variant.files.some((file) => "gated" in file && file.gated === true),
    installed: false,
    summary: model.summary,
  };
}

function modalitiesOf(model: CatalogModel): string[] {
  return [model.modality, ...(model.additional_modalities ?? [])];
}

/** @throws CliFailure when no model of the catalog has it */
function modalityOf(models: readonly CatalogModel[], given: string): string {
  const known = [...new Set(models.flatMap(modalitiesOf))].sort();
  const wanted = given.toLowerCase().replaceAll("-", "_");
  if (known.includes(wanted)) return wanted;
  const meant = nearest(wanted, known);
  throw usageError(
    `No model of the catalog has the modality ${given}.`,
    `${meant === null ? "" : `Did you mean ${meant}? `}There are ${known.join(", ")}.`,
  );
}

/** Whether each word stands somewhere in what is told of the model. */
function matches(row: CatalogRow, words: readonly string[]): boolean {
  const { id, quant, name, publisher, license, modality, architecture, summary } = row;
  const told = [id, quant, name, publisher, license, modality, architecture, summary];
  const lists = [...row.additional_modalities, ...row.capabilities];
  const text = [...told, ...lists].join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}

function print({ out }: Io, rows: readonly CatalogRow[], options: CatalogOptions): void {
  if (rows.length === 0) {
    out.line(
      options.installed
        ? "No such model of the catalog is installed. All that can be had: somnus catalog"
        : "The catalog has no such model. Any GGUF of the Hugging Face hub: somnus pull OWNER/REPO",
    );
    return;
  }
  const cells = rows.map((row) => [
    row.id,
    row.quant,
    row.size === null ? "-" : bytesText(row.size),
    row.installed ? "installed" : "-",
    row.tested ? "yes" : "no",
    `${row.license}${row.gated ? " (gated)" : ""}`,
    row.summary,
  ]);
  const paintState = (cell: string, index: number) =>
    rows[index]!.installed ? out.paint.green(cell) : out.paint.dim(cell);
  const columns = [
    { title: "MODEL", paint: out.paint.bold },
    { title: "QUANT" },
    { title: "SIZE", right: true },
    { title: "STATE", paint: paintState },
    { title: "TESTED" },
    { title: "LICENSE", flexible: true },
    { title: "", flexible: true, paint: out.paint.dim },
  ];
  for (const line of tableLines(columns, cells, out.columns)) out.line(line);
  if (!out.isTerminal) return;
  const count = new Set(rows.map((row) => row.id)).size;
  const hint = `\n${countText(count, "model")}. Fetch one with: somnus pull ID[:QUANT]`;
  out.line(out.paint.dim(hint));
}
