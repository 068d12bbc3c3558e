import { stat } from "node:fs/promises";
import { createArtifacts } from "../artifacts/index.js";
import { modelFilePath } from "../config/index.js";
import { findInCatalog, isInstalled, readCatalog } from "../models/index.js";
import { EXIT } from "./failure.js";
import type { Io } from "./io.js";
import { tableLines } from "./layout.js";
import { bytesText } from "./quantities.js";
import { type CommonOptions, loadSettings, serverEnvironment } from "./settings.js";

/** One model that is here or could be. */
export interface ListedModel {
  id: string;
  /** `installed`; `available`: in the catalog only; `missing`: configured, but its file is not there. */
  state: "installed" | "available" | "missing";
  /** Whether a `[[models]]` block names it. */
  configured: boolean;
  /** Taken when no quant is named. */
  default: boolean;
  quant: string | null;
  /** Bytes of all its files; null when it cannot be told. */
  size: number | null;
  modality: string;
  license: string | null;
  summary: string | null;
}

/** `somnus list`: works without a server. */
export async function list(io: Io, options: CommonOptions & { json?: boolean }): Promise<number> {
  const models = await listModels(io, options);
  const { out } = io;
  if (options.json) {
    out.json(models);
    return EXIT.ok;
  }
  const rows = models.map((model) => [
    model.id,
    model.quant ?? "-",
    model.size === null ? "-" : bytesText(model.size),
    model.state,
    model.license ?? "-",
    model.summary ?? model.modality,
  ]);
  const paintState = (cell: string, row: number) => {
    const { state } = models[row]!;
    if (state === "installed") return out.paint.green(cell);
    return state === "missing" ? out.paint.red(cell) : out.paint.dim(cell);
  };
  const columns = [
    { title: "MODEL", paint: out.paint.bold },
    { title: "QUANT" },
    { title: "SIZE", right: true },
    { title: "STATE", paint: paintState },
    { title: "LICENSE", flexible: true },
    { title: "", flexible: true, paint: out.paint.dim },
  ];
  for (const line of tableLines(columns, rows, out.columns)) out.line(line);
  if (out.isTerminal && models.some((model) => model.state === "available")) {
    out.line(out.paint.dim("\nFetch one with: somnus pull ID"));
  }
  return EXIT.ok;
}

async function listModels(io: Io, options: CommonOptions): Promise<ListedModel[]> {
  const { config } = await loadSettings(io, options);
  const catalog = await readCatalog();
  const artifacts = createArtifacts({ env: serverEnvironment(io.env) });
  const configured = new Set(config.models.map((block) => block.id));
  const models: ListedModel[] = [];

  for (const block of config.models) {
    if (block.weights_path === undefined && findInCatalog(catalog, block.id) !== null) continue;
    const size =
      block.weights_path === undefined
        ? null
        : await stat(modelFilePath(config, block.weights_path)).then(
            (file) => file.size,
            () => null,
          );
    models.push({
      id: block.id,
      state: size === null ? "missing" : "installed",
      configured: true,
      default: true,
      quant: null,
      size,
      modality: block.modality,
      license: null,
      summary: block.weights_path ?? null,
    });
  }
  for (const model of catalog.models) {
    const hasOwnFile = models.some((one) => one.id === model.id);
    for (const variant of hasOwnFile ? [] : model.variants) {
      const isHere = await isInstalled(variant, artifacts, config.pool.models_dir);
      models.push({
        id: model.id,
        state: isHere ? "installed" : "available",
        configured: configured.has(model.id),
        default: variant.default === true || model.variants.length === 1,
        quant: variant.quant,
        size: variant.files.reduce((sum, file) => sum + file.size, 0),
        modality: model.modality,
        license: model.license,
        summary: model.summary,
      });
    }
  }
  const order = { missing: 0, installed: 1, available: 2 };
  return models.sort((a, b) => order[a.state] - order[b.state]);
}
