import type { Artifacts } from "../artifacts/index.js";
import type { Config, ModelConfig } from "../config/index.js";
import { SomnusError } from "../http/errors.js";
import { nearest } from "../spelling/index.js";
import { createAliases } from "./aliases.js";
import { type Catalog, type CatalogModel, type CatalogVariant, findInCatalog } from "./catalog.js";
import { isInstalled } from "./install.js";
import { buildPoolModel, type PoolModel } from "./pool-model.js";

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

/**
 * The models in service. Without `[[models]]` blocks these are the installed models of the
 * catalog, and one that is pulled while the server runs joins when it is first asked for.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #models = new Map<string, PoolModel>();
  readonly #alias: (name: string) => string | null;
  #refreshing: Promise<void> | null = null;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#alias = createAliases(options.config.aliases);
  }

  /** Reads the configured models, and the installed ones where those are served. */
  async open(): Promise<void> {
    for (const block of this.#options.config.models) {
      const found = block.weights_path ? null : findInCatalog(this.#options.catalog, block.id);
      const weights = block.weights_path ?? (found && weightsOf(found.variant));
      this.#models.set(block.id, await this.#build(block, weights));
    }
    await this.refresh();
  }

  /** Takes in what was installed since; does nothing where the configuration lists the models. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#takeInstalled().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
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

  /** The model that requests without one go to, or null. */
  get defaultModel(): string | null {
    return this.#options.config.pool.default_model ?? null;
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
    const model = this.#find(wanted) ?? (await this.#findFresh(wanted));
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

  async #findFresh(name: string): Promise<PoolModel | null> {
    if (!this.#servesInstalled()) return null;
    await this.refresh();
    return this.#find(name);
  }

  #notFound(name: string): SomnusError {
    const shown = name.length > 128 ? `${name.slice(0, 128)}...` : name;
    const target = this.#alias(name) ?? name;
    const inCatalog = findInCatalog(this.#options.catalog, target)?.model.id;
    const here = [...this.#models.keys()];
    const near = nearest(target, [...here, ...this.#options.catalog.models.map((m) => m.id)]);
    let hint: string;
    if (inCatalog) hint = `It is not installed; get it with: somnus pull ${inCatalog}`;
    else if (near && this.#models.has(near)) hint = `Did you mean ${near}?`;
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
        this.#models.set(model.id, await this.#build(block, weightsOf(variant)));
      }
    }
  }

  #build(block: ModelConfig, weights: string | null): Promise<PoolModel> {
    return buildPoolModel(block, weights, {
      modelsDir: this.#options.modelsDir,
      idleUnloadSecs: this.#options.config.pool.idle_unload_secs,
      preload: block.initial_tier === "tier1_gpu_vram",
      created: this.#options.now(),
    });
  }
}

function weightsOf(variant: CatalogVariant): string {
  return (variant.files.find((file) => file.role === "weights") ?? variant.files[0]!).file;
}
