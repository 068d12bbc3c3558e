import { createArtifacts } from "./artifacts/index.js";
import { defaultPaths, enginesFolder, filledModel, type LoadedConfig } from "./config/index.js";
import { openParkingFolder, whyNotParked } from "./conversation-parking.js";
import { untilReleased } from "./device-release.js";
import { configuredRun, createLlamaEngine } from "./engines/index.js";
import { configuredOrigins, createProvisioning, NextEngine } from "./engines/provisioning/index.js";
import { createDoor, createRemoteFetch, SomnusError } from "./http/index.js";
import { IdleHeap } from "./idle-heap.js";
import { inferenceRoutes, writeDoorError } from "./inference/index.js";
import { KeptFiles } from "./kept-files.js";
import { KeptResponses } from "./kept-responses.js";
import { LearnedMemory } from "./learned-memory.js";
import { LearnedTimes } from "./learned-times.js";
import { MachineMemory } from "./machine-memory.js";
import { createMediaReader } from "./media/index.js";
import { keptFigures, type ParkingFolder, QuietProbe } from "./memory/index.js";
import { Pool, type PoolModel, readCatalog } from "./models/index.js";
import type { Logger } from "./observe/index.js";
import { schedulableModels } from "./schedulable-models.js";
import { schedulerLimitsOf } from "./scheduler-limits.js";
import { type Schedulable, Scheduler } from "./scheduling/index.js";
import { Startup, type StartupProgress } from "./startup.js";
import { openStoreOrMemory, type Store, storeFile } from "./store/index.js";
import { VERSION } from "./version.js";

export type { StartupProgress } from "./startup.js";

/** A server that answers on its door. */
export interface Server {
  /** Where it answers. */
  readonly urls: readonly string[];
  /** Settles when startup is over, also when a step of it failed. */
  readonly ready: Promise<void>;
  /** The step of startup that runs or failed; null when the models can be served. */
  startup(): StartupProgress | null;
  /** Requests that run or wait now. */
  activeRequests(): number;
  /** Enabled models that cannot be served, and why; for people. */
  unservable(): { id: string; problem: string }[];
  /**
   * Refuses new requests, lets running ones end within the drain time, then ends engines and
   * listeners; resolves when all their processes are gone.
   */
  close(how?: { drainMs?: number }): Promise<void>;
}

/** How a server is to be started. */
export interface ServerOptions {
  loaded: LoadedConfig;
  env: NodeJS.ProcessEnv;
  log: Logger;
  onProgress?: (progress: StartupProgress) => void;
  /** The code of the process that keeps weights in memory, where it is not beside this server's. */
  keeperProgram?: string;
  /** In place of the one in `paths.data_dir`; whoever gives it closes it. */
  store?: Store;
}

/**
 * Builds the parts, opens the port, and goes on to bring engine and models.
 * @throws ListenError when the port cannot be opened
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { log } = options;
  const store = options.store ?? (await openStoreOrMemory(storeFile(options.loaded.config), log));
  const closeStore = async () => {
    if (options.store === undefined) await store.close();
  };
  const { config } = options.loaded;
  const folders = [defaultPaths(options.env).runtime_dir, config.paths.cache_dir];
  const parkingFolder = await openParkingFolder(folders, config, log);
  try {
    return await startOn(options, store, closeStore, parkingFolder);
  } catch (error) {
    await parkingFolder?.close();
    await closeStore();
    throw error;
  }
}

async function startOn(
  options: ServerOptions,
  store: Store,
  closeStore: () => Promise<void>,
  parkingFolder: ParkingFolder | null,
): Promise<Server> {
  const { env, log } = options;
  const { config } = options.loaded;
  const startedAt = performance.now();
  const modelsDir = config.pool.models_dir;
  const artifacts = createArtifacts({ env, log });
  const provisioning = createProvisioning({
    cacheDir: enginesFolder(config),
    ...configuredOrigins(config.engines.llama),
    env,
    artifacts,
    log,
  });
  const nextEngine = new NextEngine(provisioning, log);
  const pool = new Pool({
    config,
    modelsDir,
    catalog: await readCatalog(),
    artifacts,
    modelBlock: filledModel,
    now: () => Math.floor(Date.now() / 1_000),
  });
  const engine = createLlamaEngine({
    binary: () => startup.engine(),
    watch: nextEngine,
    runtimeDir: defaultPaths(env).runtime_dir,
    ...configuredRun(config),
    log,
  });
  const isQuiet = () =>
    startup.current() === null &&
    pool.list().every(({ id }) => {
      const { activeLeases, queued, phase } = scheduler.activity(id);
      return activeLeases + queued === 0 && phase !== "loading" && phase !== "unloading";
    });
  const speeds: QuietProbe = new QuietProbe({
    machine: () => memory.grounds()?.machine ?? null,
    folder: modelsDir,
    cacheDir: config.paths.cache_dir,
    isQuiet,
    onMeasured: (bandwidths) => {
      log.info({ bandwidths }, "bytes a second");
      void measureMemory();
    },
    onFailure: (error) => log.warn({ err: error }, "the speed of the disk or of memory"),
  });
  const memory: MachineMemory = new MachineMemory({
    config,
    engine,
    bandwidths: () => speeds.latest(),
    env,
    log,
  });
  const learned = new LearnedMemory({ store, env, log });
  const learnedTimes = new LearnedTimes({ store, log });
  await Promise.all([learned.recall(), learnedTimes.recall()]);
  const closing = new AbortController();
  /** What others use is known only from a reading when engines have come or gone. */
  const measureMemory = async () => {
    try {
      const locked = () => scheduler.lockedBytes();
      scheduler.planWith(await memory.measure(() => scheduler.bookings(), closing.signal, locked));
    } catch (error) {
      if (!closing.signal.aborted) log.warn({ err: error }, "memory could not be measured");
    }
  };
  /** Until devices have freed what a model's engine held there; what they then say is planned with. */
  const devicesReleased = async (model: string) => {
    try {
      const measured = await untilReleased(
        memory.planned(),
        (signal) =>
          memory.measure(
            () => scheduler.bookings(model),
            signal,
            () => scheduler.lockedBytes(),
          ),
        closing.signal,
      );
      if (measured !== null) scheduler.planWith(measured);
    } catch (error) {
      if (!closing.signal.aborted) log.warn({ err: error }, "memory could not be measured");
    }
  };
  const slotIdleSecs = config.server.kv_idle_timeout_secs;
  const keptFiles = new KeptFiles({
    log,
    onLost: (path, message) => scheduler.weightsLost(path, message),
    ...(options.keeperProgram === undefined ? {} : { program: options.keeperProgram }),
  });
  const scheduler: Scheduler = new Scheduler({
    keeper: keptFiles.keeper,
    maxQueuePerModel: config.limits.max_queue_per_model,
    limits: schedulerLimitsOf(config),
    stallMs: config.limits.engine_timeout_secs * 1_000,
    ...(parkingFolder === null
      ? {}
      : {
          parking: {
            folder: parkingFolder,
            enabled: config.hardware.kv_park,
            maxBytes: config.hardware.kv_park_max_bytes,
          },
        }),
    ...(slotIdleSecs === 0 ? {} : { slotIdleMs: slotIdleSecs * 1_000 }),
    onResidency: () => {
      keptFiles.forget();
      void measureMemory();
    },
    onGone: (model) => devicesReleased(model),
    onLoaded: (load) => {
      const machine = memory.grounds()?.machine;
      learned.finished(load, machine?.simulated === false ? machine.devices.length : null);
    },
    log,
  });
  const loadable = schedulableModels({
    engine,
    grounds: () => memory.grounds(),
    corrections: learned,
    learned: {
      reloadMs: (model) => learned.reloadMs(model),
      holdMs: (model) => learnedTimes.of(model),
    },
    slotFolder: parkingFolder?.path ?? null,
  });
  const schedulable = (model: PoolModel): Schedulable => {
    const found = loadable(model);
    if (!config.pool.autoload && scheduler.activity(model.id).phase !== "ready") {
      throw new SomnusError(
        "model_not_found",
        `${model.id} is not loaded, and loading on demand is off (pool.autoload).`,
        { param: "model" },
      );
    }
    return found;
  };
  const startup = new Startup({
    pool,
    modelsDir,
    artifacts,
    engine: nextEngine,
    scheduler,
    schedulable: loadable,
    measureMemory,
    log,
    onProgress: options.onProgress ?? (() => {}),
  });
  const door = await createDoor({
    name: "inference",
    version: VERSION,
    server: config.server,
    limits: config.limits,
    routes: inferenceRoutes({
      config,
      pool,
      scheduler,
      memory: {
        report: async (signal) => {
          const [report, kept] = await Promise.all([
            memory.report(
              () => scheduler.bookings(),
              (model) => learned.reloadMs(model),
              signal,
            ),
            keptFiles.status(),
          ]);
          return { ...report, kept, tier2: keptFigures(report.figures.tier2.budgetBytes, kept) };
        },
      },
      responses: new KeptResponses({ store, bounds: config.responses, log }),
      readMedia: createMediaReader({
        maxImageBytes: config.limits.max_image_bytes,
        maxAudioBytes: config.limits.max_audio_bytes,
        fetch: createRemoteFetch({
          allowed: config.limits.allow_remote_image_urls,
          allowPrivate: config.limits.allow_private_urls,
        }),
      }),
      readiness: startup,
      version: VERSION,
      schedulable,
      loadable,
      whyNotParked,
      uptimeSecs: () => Math.floor((performance.now() - startedAt) / 1_000),
    }),
    log,
    writeError: writeDoorError,
    staging: () => {
      const staging = startup.staging();
      return staging && { ...staging, reason: staging.failed ? staging.reason : staging.phase };
    },
  });
  const { urls } = await door.listen();
  await measureMemory();
  learnedTimes.watch(() => scheduler.serviceTimes());
  await speeds.recall();
  const ready = startup.run();
  const activeRequests = () =>
    pool.list().reduce((sum, model) => {
      const { activeLeases, queued } = scheduler.activity(model.id);
      return sum + activeLeases + queued;
    }, 0);
  const idleHeap = new IdleHeap({ isIdle: isQuiet, log });
  let closed: Promise<void> | null = null;
  const close = async (drainMs: number) => {
    const reason = new SomnusError("shutting_down", "The server is shutting down.");
    startup.stop(reason);
    idleHeap.close();
    closing.abort(reason);
    scheduler.drain();
    try {
      await door.close({ drainMs });
    } finally {
      await scheduler.close();
      await parkingFolder?.close();
      await ready;
      await nextEngine.close();
      await speeds.close();
      await memory.close();
      learnedTimes.close();
      await learned.close();
      await keptFiles.close();
      await closeStore();
    }
  };
  return {
    urls,
    ready,
    startup: () => startup.current(),
    activeRequests,
    unservable: () =>
      pool
        .list()
        .flatMap(({ id, enabled, problem }) =>
          enabled && problem !== null ? [{ id, problem }] : [],
        ),
    close: ({ drainMs = config.server.drain_secs * 1_000 } = {}) => (closed ??= close(drainMs)),
  };
}
