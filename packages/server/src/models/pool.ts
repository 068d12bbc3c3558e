import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Artifacts } from "../artifacts/index.js";
import type { Config, ModelConfig } from "../config/index.js";
import { SomnusError } from "../http/errors.js";
import { nearest } from "../spelling/index.js";
import { createAliases } from "./aliases.js";
import { type Catalog, type CatalogModel, type CatalogVariant, findInCatalog } from "./catalog.js";
import { isInstalled } from "./install.js";
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
  block: ModelConfig;
  /** Its file, from the models folder; null when nothing names one. */
  weights: string | null;
  /** What the file was when it was read: see `stampOf`. */
  stamp: string | null;
}

/**
 * The models in service. Without `[[models]]` blocks these are the installed models of the
 * catalog, and one that is pulled while the server runs joins when it is first asked for.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #models = new Map<string, PoolModel>();
  readonly #alias: (name: string) => string | null;
  readonly #sources = new Map<string, Source>();
  #lastPass: Promise<void> = Promise.resolve();
  #nextPass: Promise<void> | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#alias = createAliases(options.config.aliases);
  }

  /** Reads the configured models, and the installed ones where those are served. */
  async open(): Promise<void> {
    for (const block of this.#options.config.models) {
      const found = block.weights_path ? null : findInCatalog(this.#options.catalog, block.id);
      const weights = block.weights_path ?? (found && weightsOf(found.variant));
      await this.#add(block, weights);
    }
    await this.refresh();
  }

  /**
   * Takes in what was installed since, where the configuration does not list the models, and the
   * files of models that could not be served and have come or changed since.
   */
  refresh(): Promise<void> {
    // A pass under way may have looked already where there is something now.
    this.#nextPass ??= this.#lastPass.then(async () => {
      this.#nextPass = null;
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
    const shown = name.length > 128 ? `${name.slice(0, 128)}...` : name;
    const target = this.#alias(name) ?? name;
    const inCatalog = findInCatalog(this.#options.catalog, target)?.model.id;
    const here = [...this.#models.keys()];
    const near = nearest(target, [...here, ...this.#options.catalog.models.map((m) => m.id)]);
    let hint: string;
    if (inCatalog && this.#models.has(inCatalog)) hint = `Did you mean ${inCatalog}?`;
    else if (inCatalog && this.#servesInstalled()) {
      hint = `It is not installed; get it with: somnus pull ${inCatalog}`;
    } else if (inCatalog) {
      hint =
        `The configuration does not list it: add a [[models]] block with id = "${inCatalog}", ` +
        `and get its file with: somnus pull ${inCatalog}`;
    } else if (near && this.#models.has(near)) hint = `Did you mean ${near}?`;
    else if (near) hint = `Did you mean ${near}? Get it with: somnus pull ${near}`;
    else if (here.length > 0) hint = `Here are: ${here.slice(0, 8).join(", ")}. More: somnus list`;
    else hint = "No model is installed; see: somnus list";
    return new SomnusError("model_not_found", `There is no model "${shown}". ${hint}`, {
      param: "model",
    });
  }

  #servesInstalled(): boolean {
    const { config } = this.#options;
    return config.models.length === 0 && config.pool.serve_installed;
  }

  async #takeInstalled(): Promise<void> {
    if (!this.#servesInstalled()) return;
    const { catalog, artifacts, modelsDir, config } = this.#options;
    for (const model of catalog.models) {
      for (const variant of model.variants) {
        if (this.#models.has(model.id)) break;
        if (!(await isInstalled(variant, artifacts, modelsDir))) continue;
        const block = this.#options.modelBlock({
          id: model.id,
          modality: model.modality,
          additional_modalities: model.additional_modalities ?? [],
          ...(model.starter && config.pool.preload ? { initial_tier: "tier1_gpu_vram" } : {}),
        });
        await this.#add(block, weightsOf(variant));
      }
    }
  }

  async #readChanged(): Promise<void> {
    for (const [id, { block, weights, stamp }] of this.#sources) {
      const model = this.#models.get(id)!;
      if (model.problem === null || (await stampOf(model.weightsPath)) === stamp) continue;
      await this.#add(block, weights);
    }
  }

  /** Reads a model into the pool, in place of what was known of it. */
  async #add(block: ModelConfig, weights: string | null): Promise<void> {
    const { modelsDir, config, now } = this.#options;
    const weightsPath = resolve(modelsDir, weights ?? "");
    const stamp = await stampOf(weightsPath);
    const model = await buildPoolModel(block, weights, {
      modelsDir,
      idleUnloadSecs: config.pool.idle_unload_secs,
      preload: block.initial_tier === "tier1_gpu_vram",
      created: this.#models.get(block.id)?.created ?? now(),
    });
    this.#sources.set(block.id, { block, weights, stamp });
    this.#models.set(block.id, model);
  }
}

/** Tells two states of a file apart; null when there is none. */
async function stampOf(path: string): Promise<string | null> {
  const file = await stat(path).catch(() => null);
  return file && `${file.ino} ${file.size} ${file.mtimeMs} ${file.ctimeMs}`;
}

function weightsOf(variant: CatalogVariant): string {
  return (variant.files.find((file) => file.role === "weights") ?? variant.files[0]!).file;
}
