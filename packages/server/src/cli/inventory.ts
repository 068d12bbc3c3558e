import { realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { type Artifacts, createArtifacts } from "../artifacts/index.js";
import { type Config, modelFilePath } from "../config/index.js";
import {
  artifactOf,
  type Catalog,
  type CatalogModel,
  type CatalogVariant,
  defaultVariant,
  findInCatalog,
  findInLibrary,
  type Library,
  type LibraryManifest,
  libraryFilePath,
  openLibrary,
  openPulls,
  type Pulls,
  readCatalog,
  variantSize,
} from "../models/index.js";
import type { Io } from "./io.js";
import { serverEnvironment } from "./settings.js";

/** One file of a model that is here or could be. */
export interface KnownFile {
  role: string;
  /** Absolute. */
  path: string;
  /** Bytes; null when neither the disk nor the catalog tells. */
  size: number | null;
  sha256: string | null;
  /** Whether it lies in a folder of ours and may be deleted with the model. */
  ours: boolean;
}

/** One quantization of a model that is here or could be. */
export interface KnownModel {
  id: string;
  quant: string | null;
  /** `installed`; `available`: in the catalog only; `missing`: a file of it is gone, or of another size. */
  state: "installed" | "available" | "missing";
  /** Who brought it here. */
  from: "catalog" | "huggingface" | "import" | "convert" | "configuration";
  /** The same with its details, for people: "huggingface owner/repo at 1a2b3c4". */
  origin: string;
  /** Whether a `[[models]]` block names it. */
  configured: boolean;
  /** Whether a running server serves it: configured, or nothing is and all that is installed is served. */
  in_pool: boolean;
  /** Taken when no quant is named. */
  default: boolean;
  /** Whether it was run with this version; null when nobody says. */
  tested: boolean | null;
  /** Bytes of all its files; null when it cannot be told. */
  size: number | null;
  modality: string;
  additional_modalities: string[];
  engine: string;
  architecture: string | null;
  license: string | null;
  summary: string | null;
  files: KnownFile[];
}

/** All that is known of models on this machine, and the parts that know it. */
export interface Inventory {
  models: KnownModel[];
  catalog: Catalog;
  artifacts: Artifacts;
  library: Library;
  pulls: Pulls;
  modelsDir: string;
}

/**
 * Looks at what the configuration, the library and the catalog name; no server is needed.
 * @throws SomnusError model_unavailable when the library cannot be read
 */
export async function takeInventory(io: Io, config: Config): Promise<Inventory> {
  const modelsDir = config.pool.models_dir;
  const catalog = await readCatalog();
  const artifacts = createArtifacts({ env: serverEnvironment(io.env) });
  const library = openLibrary(modelsDir);
  const imported = await library.list();
  const models: KnownModel[] = [];
  const blocks = new Map(config.models.map((block) => [block.id, block]));
  /** The model of the library that a block without a file of its own means. */
  const meant = new Map(
    config.models
      .filter((block) => block.weights_path === undefined && !findInCatalog(catalog, block.id))
      .map((block) => [block, findInLibrary(imported, block.id)]),
  );
  const ofLibrary = new Set([...meant.values()].map((manifest) => manifest?.id));

  for (const block of config.models) {
    const hasOwnFile = block.weights_path !== undefined;
    if (hasOwnFile || (meant.has(block) && meant.get(block) === undefined)) {
      models.push(await configuredModel(config, block));
    }
  }
  for (const one of imported) {
    if (blocks.get(one.id)?.weights_path !== undefined) continue;
    models.push(await libraryModel(one, modelsDir));
  }
  for (const model of catalog.models) {
    if (blocks.get(model.id)?.weights_path !== undefined) continue;
    for (const variant of model.variants) {
      models.push(await catalogModel(model, variant, artifacts, modelsDir));
    }
  }
  notePlaceInPool(models, config, ofLibrary);
  return { models, catalog, artifacts, library, pulls: openPulls(modelsDir), modelsDir };
}

/** Notes which models the configuration names and a server with it serves. */
function notePlaceInPool(
  models: readonly KnownModel[],
  { models: blocks, pool }: Config,
  ofLibrary: ReadonlySet<string | undefined>,
): void {
  const named = new Set(blocks.map((block) => block.id));
  const served = new Set<string>();
  for (const model of models) {
    const { id, quant } = model;
    const isNamed = model.from !== "catalog" || model.default;
    model.configured =
      (named.has(id) && isNamed) || named.has(`${id}:${quant}`) || ofLibrary.has(id);
    // Of several variants that are installed, the first one has the id.
    const isFirst = model.state === "installed" && !served.has(id);
    if (isFirst) served.add(id);
    model.in_pool =
      blocks.length === 0
        ? isFirst && pool.serve_installed
        : model.state === "installed" && model.configured;
  }
}

/**
 * The models that a name means, `id` or `id:quant`, those that are here first.
 * @returns none when nothing has that name
 */
export function findModels(models: readonly KnownModel[], name: string): KnownModel[] {
  const wanted = name.toLowerCase();
  const exact = models.filter((model) => model.id.toLowerCase() === wanted);
  const found =
    exact.length > 0
      ? exact
      : models.filter(({ id, quant }) => `${id}:${quant}`.toLowerCase() === wanted);
  return [...found].sort((a, b) => rank(a) - rank(b));
}

const STATES = ["missing", "installed", "available"] as const;

/** For sorting: what is wrong comes first, what could be had last. */
export function rank(model: KnownModel): number {
  return STATES.indexOf(model.state);
}

async function configuredModel(
  config: Config,
  block: Config["models"][number],
): Promise<KnownModel> {
  const weights = block.weights_path;
  const path = weights === undefined ? null : modelFilePath(config, weights);
  const size = path === null ? null : await sizeOf(path);
  return {
    ...{ id: block.id, quant: null, state: size === null ? "missing" : "installed" },
    ...{ from: "configuration", origin: weights ?? "no file is named" },
    ...{ configured: true, in_pool: false, default: true, tested: null, size },
    modality: block.modality,
    additional_modalities: [...block.additional_modalities],
    engine: block.engine,
    ...{ architecture: null, license: null, summary: null },
    files: path === null ? [] : [{ role: "weights", path, size, sha256: null, ours: false }],
  };
}

async function libraryModel(model: LibraryManifest, modelsDir: string): Promise<KnownModel> {
  const files = model.files.map((file): KnownFile => {
    const { role, size, sha256, ours } = file;
    return { role, path: libraryFilePath(modelsDir, file), size, sha256, ours };
  });
  for (const file of files) file.ours &&= await isInside(modelsDir, file.path);
  const isHere = await Promise.all(
    files.map(async ({ path, size }) => (await sizeOf(path)) === size),
  );
  return {
    ...{ id: model.id, quant: model.quant, from: model.origin.type, origin: originText(model) },
    state: isHere.includes(false) ? "missing" : "installed",
    ...{ configured: false, in_pool: false, default: true, tested: !model.untested },
    size: files.reduce<number>((sum, file) => sum + (file.size ?? 0), 0),
    modality: model.modality,
    additional_modalities: [...model.additional_modalities],
    engine: model.engine,
    ...{ architecture: model.architecture, license: model.license, summary: null, files },
  };
}

/** Whether a file lies in the models folder when links between folders are followed. */
async function isInside(modelsDir: string, path: string): Promise<boolean> {
  try {
    const inside = relative(await realpath(modelsDir), await realpath(dirname(path)));
    return inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
  } catch {
    // Nothing is there that could be deleted by mistake.
    return true;
  }
}

function originText({ origin }: LibraryManifest): string {
  switch (origin.type) {
    case "huggingface":
      return `huggingface ${origin.repo} at ${origin.revision.slice(0, 7)}`;
    case "import":
      return `${origin.tool} ${dirname(origin.location)}`;
    case "convert":
      return `converted from ${origin.from}`;
  }
}

async function catalogModel(
  model: CatalogModel,
  variant: CatalogVariant,
  artifacts: Artifacts,
  modelsDir: string,
): Promise<KnownModel> {
  const specs = variant.files.map(artifactOf);
  const brought: string[] = [];
  for (const spec of specs) {
    const artifact = await artifacts.installed(spec, modelsDir);
    if (artifact === null) break;
    brought.push(artifact.source);
  }
  const isHere = brought.length === specs.length;
  const files = variant.files.map((file, index): KnownFile => {
    const { size, sha256 } = specs[index]!;
    return { role: file.role, path: resolve(modelsDir, file.file), size, sha256, ours: true };
  });
  return {
    ...{ id: model.id, quant: variant.quant, state: isHere ? "installed" : "available" },
    ...{
      from: "catalog",
      origin: isHere ? `catalog: ${[...new Set(brought)].join("; ")}` : "catalog",
    },
    ...{ configured: false, in_pool: false },
    default: variant === defaultVariant(model),
    ...{ tested: model.verified, size: variantSize(variant), modality: model.modality },
    additional_modalities: [...(model.additional_modalities ?? [])],
    ...{ engine: model.engine, architecture: model.architecture, license: model.license },
    ...{ summary: model.summary, files },
  };
}

/** Bytes of a file; null when it is not there. */
async function sizeOf(path: string): Promise<number | null> {
  return stat(path).then(
    (file) => file.size,
    () => null,
  );
}
