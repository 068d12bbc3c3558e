import { totalmem } from "node:os";
import type { Config } from "./config/index.js";
import { CONTEXT_CHECKPOINTS, type Engine, type ModelSpec } from "./engines/index.js";
import type { MemoryReport } from "./inference/index.js";
import {
  type Accelerator,
  type Booking,
  type Budgets,
  budgetsOf,
  createMachineWatch,
  estimate,
  figuresOf,
  type Machine,
  type MachineReader,
  type MachineWatch,
  machineReader,
  plan,
  readProcessMemory,
  reloadEstimateMs,
  unaccountedOn,
} from "./memory/index.js";
import type { PoolModel } from "./models/index.js";
import type { Logger } from "./observe/index.js";
import type { MemoryState, MemoryTerms } from "./scheduling/index.js";

/** The machine's memory as loads are planned with it, measured anew when engines come and go. */
export class MachineMemory {
  readonly #watch: MachineWatch;
  readonly #config: Pick<Config, "hardware">;
  readonly #log: Logger;
  /** What loads are planned with now; null before the first measurement. */
  #planned: { machine: Machine; budgets: Budgets } | null = null;

  /** `engine`: what it computes with decides which of the machine's memory is of use. */
  constructor(options: {
    config: Pick<Config, "hardware">;
    engine: Pick<Engine, "devices">;
    env: NodeJS.ProcessEnv;
    log: Logger;
  }) {
    const { config, engine, env } = options;
    this.#config = config;
    this.#log = options.log;
    const readers = new Map<string, MachineReader>();
    this.#watch = createMachineWatch({
      read: async (signal) => {
        // Before the engine is here, nobody can say what it will compute with.
        const names = await engine.devices().catch(() => null);
        const key = String(names);
        const accelerators = names === null ? {} : { accelerators: acceleratorsOf(names) };
        const read = readers.get(key) ?? machineReader({ env, config, ...accelerators });
        readers.set(key, read);
        return read(signal);
      },
      onFailure: (error) => options.log.warn({ err: error }, "the machine cannot be read"),
    });
  }

  /** The machine as loads are planned with it; null before the first measurement. Costs nothing. */
  machine(): Machine | null {
    return this.#planned?.machine ?? null;
  }

  /**
   * What loads are to be planned with, from a reading that begins now.
   * @param booked of all engines; what is used beyond it belongs to others
   * @throws when the machine cannot be read, or the signal's reason
   */
  async measure(booked: () => readonly Booking[], signal: AbortSignal): Promise<MemoryState> {
    const machine = await this.#watch.fresh(signal);
    for (const problem of machine.problems ?? []) this.#log.warn({ problem }, "machine");
    const state = memoryStateOf(machine, booked(), this.#config);
    this.#planned = { machine, budgets: state.budgets };
    return state;
  }

  /**
   * What memory holds now, and what the planner has left to give.
   * @throws when the machine cannot be read, or the signal's reason
   */
  async report(booked: () => readonly Booking[], signal: AbortSignal): Promise<MemoryReport> {
    const [machine, processes] = await Promise.all([
      this.#watch.current(signal),
      readProcessMemory(),
    ]);
    const bookings = booked();
    const budgets =
      this.#planned?.budgets ?? memoryStateOf(machine, bookings, this.#config).budgets;
    return {
      machine,
      figures: figuresOf(machine, budgets, bookings),
      processes,
      capBytes: budgets.processMemoryCapBytes,
      installedBytes: totalmem(),
      reloadEstimateMs: (model) => reloadEstimateMs(model, machine.bandwidths),
    };
  }

  /** Ends a reading under way. */
  close(): Promise<void> {
    return this.#watch.close();
  }
}

const DEVICE_NAMES: readonly (readonly [RegExp, Accelerator])[] = [
  [/^CUDA/, "NvidiaCuda"],
  [/^(ROCm|HIP)/, "AmdRocm"],
  [/^(MTL|Metal)/, "AppleMetal"],
  [/^Vulkan/, "Vulkan"],
];

function acceleratorsOf(names: readonly string[]): Accelerator[] {
  const found = names.flatMap(
    (name) => DEVICE_NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? [],
  );
  return [...new Set(found)];
}

/** What loads are planned with on a machine where so much is booked already. */
export function memoryStateOf(
  machine: Machine,
  booked: readonly Booking[],
  { hardware }: Pick<Config, "hardware">,
): MemoryState {
  const ownBytes = process.memoryUsage.rss();
  const { host, devices } = machine;
  const ours = sum(booked.map(({ hostBytes, mappedBytes }) => hostBytes - mappedBytes)) + ownBytes;
  const budgets = budgetsOf(machine, {
    processMemoryCapBytes: hardware.max_process_memory_bytes ?? null,
    ownBytes,
    unaccountedDeviceBytes: devices.map((device, at) =>
      unaccountedOn(device, sum(booked.map(({ deviceBytes }) => deviceBytes[at] ?? 0))),
    ),
    // What a container's neighbours use does not count against its limit, and its own use includes caches.
    unaccountedHostBytes:
      machine.simulated || host.containerLimitBytes !== null
        ? 0
        : unaccountedOn({ totalBytes: host.totalBytes, freeBytes: host.availableBytes }, ours),
  });
  return { budgets, plan };
}

/** What the planner must know of a model of the pool. */
export function memoryTermsOf(
  model: PoolModel & { gguf: NonNullable<PoolModel["gguf"]> },
  spec: ModelSpec,
  engine: Engine,
  machine: Machine | null,
): MemoryTerms {
  const { gguf, projectorGguf, memory } = model;
  const devices = machine?.devices.length ?? 0;
  return {
    artifact: model.weightsPath,
    artifactBytes: gguf.tensorBytes,
    priority: memory.priority,
    keepWarm: memory.keepWarm,
    estimate: (contextTokens) =>
      estimate(
        gguf,
        {
          contextTokens,
          slots: model.slots,
          batchTokens: engine.batchTokens(spec, devices > 0),
          ...(model.plan.cacheTypeK === undefined ? {} : { cacheTypeK: model.plan.cacheTypeK }),
          ...(model.plan.cacheTypeV === undefined ? {} : { cacheTypeV: model.plan.cacheTypeV }),
        },
        {
          devices,
          checkpoints: CONTEXT_CHECKPOINTS,
          threads: model.plan.threads ?? machine?.processor.physicalCores ?? 1,
          ...(projectorGguf === null ? {} : { projector: projectorGguf }),
        },
      ),
    firmContextTokens: memory.firmContext ? model.contextTokens : FIRM_CONTEXT_TOKENS,
    gpuLayers: model.plan.gpuLayers,
    moeOffload: memory.moeOffload,
    cpuExpertLayers: memory.cpuExpertLayers,
    minGpuLayerRatio: memory.minGpuLayerRatio,
    activeExpertShare:
      gguf.experts && gguf.expertsUsed ? Math.min(1, gguf.expertsUsed / gguf.experts) : null,
  };
}

/** Pool context that agents need: worth a placement that is not whole on a device. */
const FIRM_CONTEXT_TOKENS = 8_192;

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
