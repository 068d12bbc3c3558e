import type { Artifacts } from "../artifacts/index.js";
import type { Config, ModelConfig } from "../config/index.js";
import { SomnusError } from "../http/errors.js";
import { createAliases } from "./aliases.js";
import {
  type Catalog,
  type CatalogModel,
  type CatalogVariant,
  findInCatalog,
} from "./catalog/index.js";
import { findInLibrary } from "./find-in-library.js";
import { isInstalled } from "./install/index.js";
import { type BrokenManifest, type Library, openLibrary } from "./library/index.js";
import {
  catalogFiles,
  catalogUse,
  type KnownUse,
  libraryFiles,
  libraryUse,
  type ModelFiles,
  namedFiles,
  stampOf,
} from "./model-files.js";
import { modelNotFound } from "./not-found.js";
import { buildPoolModel, type PoolModel } from "./pool-model.js";

/** What a pool works with. */
export interface PoolOptions {
  config: Config;
  modelsDir: string;
  catalog: Catalog;
  artifacts: Artifacts;
  /** A `[[models]]` block with every default filled. */
  modelBlock: (values: Partial<ModelConfig> & { id: string }) => ModelConfig;
  /** Unix seconds. */
  now: () => number;
}

/** Where a model of the pool comes from. */
interface Source {
  /** With what the catalog or the library knows filled in. */
  block: ModelConfig;
  files: ModelFiles;
  /** What the files were when they were read: see `stampOf`. */
  stamp: string | null;
  /** When it was last made sure that they still are, by the clock of `performance`. */
  lookedAt: number;
  /** Whether it is served because it is in the library, so that it goes when it leaves it. */
  fromLibrary: boolean;
}

/** How old the look at a model's files may be when a request comes for it, milliseconds. */
const LOOK_EVERY_MS = 1_000;

/**
 * The models in service. Without `[[models]]` blocks these are the installed models of the catalog and those of
 * the library, and one that is pulled while the server runs joins when it is first asked for.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #models = new Map<string, PoolModel>();
  readonly #alias: (name: string) => string | null;
  readonly #sources = new Map<string, Source>();
  readonly #library: Library;
  #lastPass: Promise<void> = Promise.resolve();
  #nextPass: Promise<void> | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#alias = createAliases(options.config.aliases);
    this.#library = openLibrary(options.modelsDir);
  }

  /** Reads the configured models, and the installed ones where those are served. */
  open(): Promise<void> {
    return this.refresh();
  }

  /**
   * Takes in what was installed since, where the configuration does not list the models, lets go what left the
   * library, and reads the files that have come, changed or gone since.
   */
  refresh(): Promise<void> {
    // A pass under way may have looked already where there is something now.
    this.#nextPass ??= this.#lastPass.then(async () => {
      this.#nextPass = null;
      await this.#takeConfigured();
      await this.#takeInstalled();
      await this.#readChanged();
    });
    const pass = this.#nextPass;
    this.#lastPass = pass.catch(() => {});
    return pass;
  }

  /** The models of the catalog that the configuration wants and that are not installed. */
  async missing(): Promise<{ model: CatalogModel; variant: CatalogVariant }[]> {
    const { config, catalog, artifacts, modelsDir } = this.#options;
    const wanted = this.#servesInstalled()
      ? catalog.models
          .filter((model) => model.starter && config.pool.preload)
          .map((model) => model.id)
      : config.models
          .filter((block) => block.enabled && !block.weights_path)
          .map((block) => block.id);
    const missing = [];
    for (const id of wanted) {
      const found = findInCatalog(catalog, id);
      if (found && !(await isInstalled(found.variant, artifacts, modelsDir))) missing.push(found);
    }
    return missing;
  }

  /** The manifests of the library that are passed over, and why. */
  broken(): Promise<BrokenManifest[]> {
    return this.#library.broken();
  }

  /** Every model, disabled ones too, in the order they joined. */
  list(): PoolModel[] {
    return [...this.#models.values()];
  }

  /** The id of the model that requests without one go to, or null. */
  get defaultModel(): string | null {
    const name = this.#options.config.pool.default_model;
    return name === undefined ? null : (this.#find(name)?.id ?? name);
  }

  /**
   * The model for the name of a request: an id, an alias or a glob of aliases.
   * @throws SomnusError model_not_found with the nearest id and how to get it; model_disabled
   */
  async resolve(name: string | undefined): Promise<PoolModel> {
    const wanted = name ?? this.defaultModel;
    if (wanted === null) {
      throw new SomnusError(
        "invalid_request",
        "The request names no model, and no default is configured (pool.default_model).",
        { param: "model" },
      );
    }
    let model = this.#find(wanted);
    if (!model || model.problem !== null) {
      await this.refresh();
      model = this.#find(wanted);
    } else if (await this.#readIfChanged(model.id, LOOK_EVERY_MS)) {
      model = this.#find(wanted);
    }
    if (!model) throw this.#notFound(wanted);
    if (!model.enabled) {
      throw new SomnusError("model_disabled", `The model ${model.id} is switched off.`, {
        param: "model",
      });
    }
    return model;
  }

  #find(name: string): PoolModel | null {
    const exact = this.#models.get(name);
    if (exact) return exact;
    const target = this.#alias(name);
    return target === null ? null : (this.#models.get(target) ?? null);
  }

  #notFound(name: string): SomnusError {
    return modelNotFound(name, {
      meant: this.#alias(name) ?? name,
      here: [...this.#models.keys()],
      catalog: this.#options.catalog,
      servesInstalled: this.#servesInstalled(),
    });
  }

  #servesInstalled(): boolean {
    const { config } = this.#options;
    return config.models.length === 0 && config.pool.serve_installed;
  }

  /** Reads the `[[models]]` blocks, and those again whose files are named by something that has changed. */
  async #takeConfigured(): Promise<void> {
    const { config, catalog, modelsDir } = this.#options;
    const library = config.models.length === 0 ? [] : await this.#library.list();
    for (const block of config.models) {
      const installed = block.weights_path ? undefined : findInLibrary(library, block.id);
      const listed = block.weights_path || installed ? null : findInCatalog(catalog, block.id);
      if (installed) {
        const filled = this.#filled(block, libraryUse(installed));
        await this.#take(filled, libraryFiles(installed, block, modelsDir));
      } else if (listed) {
        const filled = this.#filled(block, catalogUse(listed.model));
        await this.#take(filled, catalogFiles(listed, block, modelsDir));
      } else {
        await this.#take(block, namedFiles(block, modelsDir));
      }
    }
  }

  async #takeInstalled(): Promise<void> {
    if (!this.#servesInstalled()) return;
    const { catalog, artifacts, modelsDir, config } = this.#options;
    for (const model of catalog.models) {
      for (const variant of model.variants) {
        if (this.#sources.get(model.id)?.fromLibrary === false) break;
        if (!(await isInstalled(variant, artifacts, modelsDir))) continue;
        const block = this.#installedBlock(model.id, catalogUse(model), {
          ...(model.starter && config.pool.preload ? { initial_tier: "tier1_gpu_vram" } : {}),
        });
        await this.#take(block, catalogFiles({ model, variant }, null, modelsDir));
      }
    }
    const library = await this.#library.list();
    for (const manifest of library) {
      if (this.#sources.get(manifest.id)?.fromLibrary === false) continue;
      const block = this.#installedBlock(manifest.id, libraryUse(manifest), {});
      await this.#take(block, libraryFiles(manifest, null, modelsDir), true);
    }
    for (const [id, { fromLibrary }] of this.#sources) {
      if (!fromLibrary || library.some((manifest) => manifest.id === id)) continue;
      this.#sources.delete(id);
      this.#models.delete(id);
    }
  }

  /** The block of a model that no configuration names. */
  #installedBlock(id: string, use: KnownUse, more: Partial<ModelConfig>): ModelConfig {
    return this.#options.modelBlock({
      id,
      modality: use.modality,
      additional_modalities: use.additionalModalities,
      engine: use.engine as ModelConfig["engine"],
      allow_untested: use.untested,
      ...(use.matryoshka === undefined ? {} : { matryoshka: use.matryoshka }),
      ...more,
    });
  }

  /** A configured block that leaves open what a model is for gets what is known of it. */
  #filled(configured: ModelConfig, use: KnownUse): ModelConfig {
    const { matryoshka = use.matryoshka } = configured;
    const block = matryoshka === undefined ? configured : { ...configured, matryoshka };
    const usual = this.#options.modelBlock({ id: block.id });
    if (block.modality !== usual.modality || block.additional_modalities.length > 0) return block;
    return {
      ...block,
      modality: use.modality,
      additional_modalities: use.additionalModalities,
      engine: block.engine === usual.engine ? (use.engine as ModelConfig["engine"]) : block.engine,
    };
  }

  async #readChanged(): Promise<void> {
    for (const id of [...this.#sources.keys()]) await this.#readIfChanged(id, 0);
  }

  /** Reads a model again when its files are others than before; says whether it did. */
  async #readIfChanged(id: string, olderThanMs: number): Promise<boolean> {
    const source = this.#sources.get(id);
    if (!source || performance.now() - source.lookedAt < olderThanMs) return false;
    source.lookedAt = performance.now();
    if ((await stampOf(source.files)) === source.stamp) return false;
    await this.#add(source);
    return true;
  }

  /** Reads a model into the pool unless it is there as it is described. */
  async #take(block: ModelConfig, files: ModelFiles, fromLibrary = false): Promise<void> {
    const known = this.#sources.get(block.id);
    const isSame =
      known !== undefined &&
      JSON.stringify([block, files]) === JSON.stringify([known.block, known.files]);
    if (!isSame) await this.#add({ block, files, fromLibrary });
  }

  /** Reads a model into the pool, in place of what was known of it. */
  async #add({ block, files, fromLibrary }: Omit<Source, "stamp" | "lookedAt">): Promise<void> {
    const { config, now } = this.#options;
    const lookedAt = performance.now();
    const stamp = await stampOf(files);
    const model = await buildPoolModel(block, files, {
      idleUnloadSecs: config.pool.idle_unload_secs,
      created: this.#models.get(block.id)?.created ?? now(),
    });
    this.#sources.set(block.id, { block, files, stamp, lookedAt, fromLibrary });
    this.#models.set(block.id, model);
  }
}
