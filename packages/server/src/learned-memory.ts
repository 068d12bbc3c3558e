import type { EngineFacts } from "./engines/index.js";
import {
  correct,
  type Estimate,
  type LoadKey,
  type MeasuredLoad,
  measuredLoad,
  readEngineMemory,
} from "./memory/index.js";
import { type Corrections, estimateOf, keyOf, type LoadShape } from "./model-memory.js";
import type { Logger } from "./observe/index.js";
import type { FinishedLoad } from "./scheduling/index.js";
import {
  type KeptCorrection,
  latestCorrections,
  reloadTimes,
  type Store,
  saveCorrection,
  saveLoad,
} from "./store/index.js";

/** Measurements that are remembered: more models and settings than that are in nobody's use at once. */
const MOST_KEPT = 2_000;

/** How long loads of a model took, ms; null before one was measured. */
export interface ReloadMs {
  fromTier2: number | null;
  fromTier3: number | null;
}

/** Estimates with what loads have shown that a store knows of; nothing is learned. @throws what the store does */
export async function correctionsOf(store: Pick<Store, "ask">): Promise<Corrections> {
  const loads = (await latestCorrections(store, MOST_KEPT)).flatMap((row) => asLoad(row) ?? []);
  return {
    revision: 0,
    corrected: (estimated, key) =>
      correct(
        estimated,
        loads.filter(({ modelDigest }) => modelDigest === key.modelDigest),
        key,
      ),
  };
}

/** What loads have shown of models' memory and of the time they take; kept in the store. */
export class LearnedMemory implements Corrections {
  readonly #store: Store;
  readonly #env: NodeJS.ProcessEnv;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #measuring = new Set<Promise<void>>();
  readonly #loads = new Map<string, MeasuredLoad[]>();
  readonly #reloads = new Map<string, ReloadMs>();
  #revision = 0;

  constructor(options: { store: Store; env: NodeJS.ProcessEnv; log: Logger }) {
    this.#store = options.store;
    this.#env = options.env;
    this.#log = options.log;
  }

  /** Takes up what earlier servers have learned. A store that cannot be read is told in the log. */
  async recall(): Promise<void> {
    try {
      const [corrections, reloads] = await Promise.all([
        latestCorrections(this.#store, MOST_KEPT),
        reloadTimes(this.#store),
      ]);
      for (const row of corrections) {
        const load = asLoad(row);
        if (load !== null) this.#remember(load);
      }
      for (const { model, fromTier, medianMs } of reloads) this.#tookMs(model, fromTier, medianMs);
    } catch (error) {
      this.#log.warn({ err: error }, "what earlier loads have shown cannot be read");
    }
  }

  get revision(): number {
    return this.#revision;
  }

  /** An estimate with what loads of the model have shown. */
  corrected(estimated: Estimate, key: LoadKey): Estimate {
    return correct(estimated, this.#loads.get(key.modelDigest) ?? [], key);
  }

  /** How long loads of a model took, by the servers before this one. */
  reloadMs(model: string): ReloadMs | null {
    return this.#reloads.get(model) ?? null;
  }

  /**
   * Keeps how long a load took, and begins to measure what its engine holds; nobody waits for that.
   * @param devices of the machine; null where they are made up, and what an engine holds is no measure
   */
  finished(load: FinishedLoad, devices: number | null): void {
    const { model, facts, fromTier, ms } = load;
    const at = Date.now();
    const bytes = model.spec.gguf.tensorBytes ?? null;
    saveLoad(this.#store, { model: model.terms.id, fromTier, ms, bytes, at });
    if (devices === null) return;
    const work: Promise<void> = this.#measure(load, facts, devices)
      .catch((error) => {
        if (this.#closing.signal.aborted) return;
        this.#log.warn({ err: error, model: model.terms.id }, "an engine cannot be measured");
      })
      .finally(() => this.#measuring.delete(work));
    this.#measuring.add(work);
  }

  /** Ends measurements under way. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The server is shutting down."));
    await Promise.all(this.#measuring);
  }

  async #measure(load: FinishedLoad, facts: EngineFacts, devices: number): Promise<void> {
    const { process, load: loadFacts } = facts;
    if (process === undefined || loadFacts.buffers === undefined) return;
    const memory = await readEngineMemory(process.pid, {
      devices: devices > 0,
      env: this.#env,
      signal: this.#closing.signal,
    });
    if (memory.privateBytes === null && memory.deviceBytes === null) return;
    const shape = shapeOf(load, process, devices);
    const estimated = estimateOf(shape);
    const measured = measuredLoad(
      keyOf(shape, process.build),
      comparable(estimated, shape),
      { ...memory, buffers: loadFacts.buffers },
      Date.now(),
    );
    this.#remember(measured);
    saveCorrection(this.#store, asRow(measured));
  }

  #remember(load: MeasuredLoad): void {
    const { modelDigest, engineBuild, settings } = load;
    const others = (this.#loads.get(modelDigest) ?? []).filter(
      (one) => one.engineBuild !== engineBuild || one.settings !== settings,
    );
    this.#loads.set(modelDigest, [...others, load]);
    this.#revision++;
  }

  #tookMs(model: string, fromTier: string, ms: number): void {
    const known = this.#reloads.get(model) ?? { fromTier2: null, fromTier3: null };
    if (fromTier === "tier2_pinned_ram") known.fromTier2 = ms;
    if (fromTier === "tier3_nvme_ssd") known.fromTier3 = ms;
    this.#reloads.set(model, known);
  }
}

/** The load as it was carried out. */
function shapeOf(
  { model, contextTokens, placement, facts }: FinishedLoad,
  { threads, batchTokens }: NonNullable<EngineFacts["process"]>,
  devices: number,
): LoadShape {
  const { cacheTypeK, cacheTypeV } = model.plan;
  const onDevices = (placement?.layersOnDevice ?? []).reduce((sum, count) => sum + count, 0);
  return {
    spec: model.spec,
    want: {
      contextTokens,
      slots: facts.slots,
      batchTokens,
      ...(model.spec.makes === undefined ? {} : { vectors: true }),
      ...(cacheTypeK === undefined ? {} : { cacheTypeK }),
      ...(cacheTypeV === undefined ? {} : { cacheTypeV }),
    },
    threads,
    devices,
    gpuLayers: onDevices,
    cpuExpertLayers: placement?.cpuExpertLayers ?? 0,
  };
}

/**
 * The estimate with those compute buffers that this layout's can be compared with: beside a device the
 * host's is estimated for a model that is whole on it, and a device's for one that has layers there.
 */
function comparable(estimated: Estimate, { spec, devices, gpuLayers, cpuExpertLayers }: LoadShape) {
  const { compute } = estimated;
  if (compute === undefined || devices === 0) return estimated;
  const isWhole = gpuLayers >= (spec.gguf.layers ?? 1) && cpuExpertLayers === 0;
  return {
    ...estimated,
    compute: {
      device: gpuLayers > 0 ? compute.device : 0,
      host: isWhole ? compute.host : 0,
    },
  };
}

function asRow({ modelDigest, engineBuild, settings, ...load }: MeasuredLoad) {
  const { compute, estimatedCompute, process, measuredAt } = load;
  return {
    modelDigest,
    engineBuild,
    settings,
    estimated: { computeDevice: estimatedCompute.device, computeHost: estimatedCompute.host },
    measured: {
      computeDevice: compute.device,
      computeHost: compute.host,
      processDevice: process.device,
      processHost: process.host,
    },
    at: measuredAt,
  };
}

/** Null for a row that another version wrote with other names. */
function asLoad(row: KeptCorrection): MeasuredLoad | null {
  const { modelDigest, engineBuild, settings, estimated, measured, at } = row;
  const places = (device: number | null | undefined, host: number | null | undefined) =>
    typeof device === "number" && typeof host === "number" ? { device, host } : null;
  const compute = places(measured.computeDevice, measured.computeHost);
  const estimatedCompute = places(estimated.computeDevice, estimated.computeHost);
  if (compute === null || estimatedCompute === null) return null;
  const process = { device: measured.processDevice ?? null, host: measured.processHost ?? null };
  return { modelDigest, engineBuild, settings, compute, estimatedCompute, process, measuredAt: at };
}
