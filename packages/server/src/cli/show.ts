import { basename, dirname, join } from "node:path";
import { labelOf } from "../artifacts/index.js";
import {
  artifactOf,
  type CatalogFile,
  findInCatalog,
  isConverted,
  type ModelFacts,
  readModelFacts,
} from "../models/index.js";
import { EXIT } from "./failure.js";
import {
  findModels,
  type Inventory,
  type KnownFile,
  type KnownModel,
  takeInventory,
} from "./inventory.js";
import type { Io } from "./io.js";
import { printable } from "./layout.js";
import { bytesText, countText } from "./quantities.js";
import { describe } from "./report-failure.js";
import { type CommonOptions, loadSettings } from "./settings.js";
import { unknownModel } from "./unknown-model.js";

/** A file of a model with what was noted when it came. */
interface ShownFile extends KnownFile {
  /** Whether it is there, as it was when it was last verified where that is known. */
  here: boolean;
  /** Who brought it; null when nothing was noted. */
  source: string | null;
  /** Who said what the content must be; null when nothing was noted. */
  pinned_by: string | null;
  /** Where the catalog says that it can be had, in the order they are tried. */
  sources: string[];
}

/** A model of `show --json`. */
export interface ShownModel extends Omit<KnownModel, "files"> {
  files: ShownFile[];
  /** What the weights say of themselves; null when they are not here or not GGUF. */
  gguf: ModelFacts | null;
  /** Why the weights could not be read. */
  problem: string | null;
}

/** `somnus show ID`: everything known of a model, each quant of it; no server is needed. */
export async function show(
  io: Io,
  options: CommonOptions & { json?: boolean },
  names: string[],
): Promise<number> {
  const name = names[0]!;
  const { config } = await loadSettings(io, options);
  const inventory = await takeInventory(io, config);
  const { models } = inventory;
  const found = findModels(models, name);
  if (found.length === 0) throw unknownModel(models, name);
  const shown: ShownModel[] = [];
  for (const model of found) shown.push(await look(model, inventory));
  if (options.json) {
    io.out.json(shown);
    return EXIT.ok;
  }
  const widest = Math.max(...shown.flatMap(rowsOf).map(([title]) => title.length));
  for (const [index, model] of shown.entries()) {
    if (index > 0) io.out.line();
    io.out.line(io.out.paint.bold(printable(titleOf(model))));
    for (const [title, text] of rowsOf(model)) {
      io.out.line(`  ${io.out.paint.dim(title.padEnd(widest))}  ${printable(text)}`);
    }
  }
  return EXIT.ok;
}

async function look(
  model: KnownModel,
  { artifacts, catalog, modelsDir }: Inventory,
): Promise<ShownModel> {
  const variant =
    model.from === "catalog" ? findInCatalog(catalog, `${model.id}:${model.quant}`) : null;
  const files: ShownFile[] = [];
  for (const [index, file] of model.files.entries()) {
    const spec = { file: basename(file.path), size: file.size, sha256: file.sha256, sources: [] };
    // Nothing is written into a folder that is another program's.
    const elsewhere = file.ours ? undefined : { receiptsIn: join(modelsDir, ".receipts") };
    const artifact =
      model.state === "available"
        ? null
        : await artifacts.installed(spec, dirname(file.path), elsewhere);
    files.push({
      ...file,
      here: artifact !== null,
      size: artifact?.size ?? file.size,
      sha256: artifact?.sha256 ?? file.sha256,
      source: artifact?.source ?? null,
      pinned_by: artifact?.pinnedBy ?? null,
      sources: variant === null ? [] : sourcesOf(variant.variant.files[index]!),
    });
  }
  const weights = files.find(({ role }) => role === "weights");
  let gguf: ModelFacts | null = null;
  let problem: string | null = null;
  if (weights !== undefined && model.state !== "available" && model.engine === "ggml_llama") {
    try {
      gguf = await readModelFacts(weights.path);
    } catch (error) {
      problem = describe(error).message;
    }
  }
  return { ...model, files, gguf, problem };
}

function sourcesOf(file: CatalogFile): string[] {
  if (!isConverted(file)) return artifactOf(file).sources.map(labelOf);
  const { converter, inputs } = file.convert;
  return [`made here by ${converter} of ${countText(inputs.length, "file")} that are fetched`];
}

/** What is told of a model: a title and a text each. */
function rowsOf(model: ShownModel): [title: string, text: string][] {
  const { gguf } = model;
  const rows: [string, string | null][] = [
    ["state", stateText(model)],
    ["from", model.origin],
    ["about", model.summary],
    ["license", model.license ?? gguf?.license ?? null],
    ["tested", model.tested === null ? null : model.tested ? "yes" : "not with this version"],
    ["modality", [model.modality, ...model.additional_modalities].join(", ")],
    ["engine", model.engine],
    ["architecture", gguf?.architecture ?? model.architecture],
    ["parameters", gguf && parametersText(gguf.parameters)],
    ["quantization", gguf?.quantization ?? model.quant],
    ["layers", textOf(gguf?.layers)],
    ["context", gguf?.context_length ? `${gguf.context_length} tokens` : null],
    ["embedding", gguf?.embedding_length ? `${gguf.embedding_length} numbers` : null],
    ["experts", gguf?.experts ? expertsText(gguf.experts) : null],
    ["pooling", gguf?.pooling ?? null],
    ["template", gguf && (gguf.has_chat_template ? "yes" : "none")],
    ["problem", model.problem],
    ["size", model.size === null ? null : bytesText(model.size)],
  ];
  for (const file of model.files) {
    rows.push(["file", `${file.path}${fileDetail(file, model)}`]);
    if (file.sha256 !== null) rows.push(["  sha256", file.sha256]);
    if (file.source !== null) rows.push(["  source", sourceText(file)]);
    else for (const source of file.sources) rows.push(["  source", source]);
  }
  return rows.filter((row): row is [string, string] => row[1] !== null);
}

function stateText({ state, in_pool, configured, id, quant }: ShownModel): string {
  if (state === "available") return `not installed; get it with: somnus pull ${id}:${quant}`;
  if (state === "missing") return "missing: a file of it is gone, or another one now";
  if (in_pool) return `installed, in the pool${configured ? " (configured)" : ""}`;
  return "installed, not in the pool";
}

function sourceText({ source, pinned_by }: ShownFile): string {
  const pinned = pinned_by === "first download" ? " (its SHA-256 is what came first)" : "";
  return `${source}${pinned}`;
}

function fileDetail(file: ShownFile, model: ShownModel): string {
  const size = file.size === null ? "" : `, ${file.size} bytes`;
  if (model.state === "available") return size;
  if (!file.here) return ", missing or changed";
  return `${size}${file.ours ? "" : ", used in place"}`;
}

function titleOf({ id, quant }: ShownModel): string {
  return quant === null ? id : `${id}  ${quant}`;
}

function textOf(value: number | null | undefined): string | null {
  return value === null || value === undefined ? null : `${value}`;
}

function expertsText({ count, used }: { count: number; used: number | null }): string {
  return used === null ? `${count}` : `${count}, ${used} at a time`;
}

/** A number of weights as models are named: "494 M", "1.7 B". */
function parametersText(count: number): string {
  if (count >= 999.5e6) return `${(count / 1e9).toFixed(1)} B`;
  return count >= 1e6 ? `${Math.round(count / 1e6)} M` : `${count}`;
}
