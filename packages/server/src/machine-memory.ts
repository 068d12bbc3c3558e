import { totalmem } from "node:os";
import type { Config } from "./config/index.js";
import type { Engine } from "./engines/index.js";
import type { MemoryReport } from "./inference/index.js";
import {
  type Accelerator,
  type Bandwidths,
  type Booking,
  type Budgets,
  budgetsOf,
  createMachineWatch,
  figuresOf,
  GpuWatch,
  type Machine,
  type MachineReader,
  type MachineWatch,
  machineReader,
  plan,
  readProcessMemory,
  reloadEstimateMs,
  unaccountedOn,
} from "./memory/index.js";
import type { Grounds } from "./model-memory.js";
import type { Logger } from "./observe/index.js";
import type { MemoryState } from "./scheduling/index.js";

/** The machine's memory as loads are planned with it, measured anew when engines come and go. */
export class MachineMemory {
  readonly #watch: MachineWatch;
  readonly #gpu: GpuWatch;
  readonly #config: Pick<Config, "hardware">;
  readonly #engine: Pick<Engine, "devices" | "build" | "threads">;
  readonly #log: Logger;
  /** What loads are planned with now; null before the first measurement. */
  #planned: (Grounds & { budgets: Budgets }) | null = null;

  /**
   * `engine`: what it computes with decides which of the machine's memory is of use. `bandwidths`: as
   * measured by now.
   */
  constructor(options: {
    config: Pick<Config, "hardware">;
    engine: Pick<Engine, "devices" | "build" | "threads">;
    bandwidths: () => Bandwidths;
    env: NodeJS.ProcessEnv;
    log: Logger;
  }) {
    const { config, engine, env } = options;
    this.#config = config;
    this.#engine = engine;
    this.#log = options.log;
    this.#gpu = new GpuWatch({ env });
    const readers = new Map<string, MachineReader>();
    this.#watch = createMachineWatch({
      read: async (signal) => {
        // Before the engine is here, nobody can say what it will compute with.
        const names = await engine.devices().catch(() => null);
        const key = String(names);
        const accelerators = names === null ? {} : { accelerators: acceleratorsOf(names) };
        const { bandwidths } = options;
        const read =
          readers.get(key) ?? machineReader({ env, config, bandwidths, ...accelerators });
        readers.set(key, read);
        return read(signal);
      },
      onFailure: (error) => options.log.warn({ err: error }, "the machine cannot be read"),
    });
  }

  /** The budgets that loads are planned with now, null before the first measurement or on a made-up machine. */
  planned(): { budgets: Budgets } | null {
    return this.#planned?.machine.simulated === false ? this.#planned : null;
  }

  /** What estimates rest on now; null before the first measurement. Costs nothing. */
  grounds(): Grounds | null {
    return this.#planned;
  }

  /**
   * What loads are to be planned with, from a reading that begins now.
   * @param booked of all models; what is used beyond it belongs to others
   * @param lockedBytes of kept weights
   * @throws when the machine cannot be read, or the signal's reason
   */
  async measure(
    booked: () => readonly Booking[],
    signal: AbortSignal,
    lockedBytes: () => number = () => 0,
  ): Promise<MemoryState> {
    const [machine, build, threads] = await Promise.all([
      this.#watch.fresh(signal),
      // Before the engine is here, there is none.
      this.#engine.build().catch(() => null),
      this.#engine.threads(),
    ]);
    // The first look begins the first sample.
    this.#gpu.latest(machine);
    for (const problem of machine.problems ?? []) this.#log.warn({ problem }, "machine");
    const state = memoryStateOf(machine, booked(), this.#config, lockedBytes());
    this.#planned = { machine, build, threads, budgets: state.budgets };
    return state;
  }

  /**
   * What memory holds now, and what the planner has left to give.
   * @param reloadMs how long loads of a model took before this server was started
   * @throws when the machine cannot be read, or the signal's reason
   */
  async report(
    booked: () => readonly Booking[],
    reloadMs: (model: string) => { fromTier3: number | null } | null,
    signal: AbortSignal,
  ): Promise<Omit<MemoryReport, "kept" | "tier2">> {
    const [machine, processes] = await Promise.all([
      this.#watch.current(signal),
      readProcessMemory(),
    ]);
    const bookings = booked();
    const budgets =
      this.#planned?.budgets ?? memoryStateOf(machine, bookings, this.#config).budgets;
    return {
      machine,
      gpu: this.#gpu.latest(machine),
      figures: figuresOf(machine, budgets, bookings),
      processes,
      capBytes: budgets.processMemoryCapBytes,
      installedBytes: totalmem(),
      reloadEstimateMs: (model) => {
        const measuredMs = model.measuredMs ?? reloadMs(model.id)?.fromTier3 ?? null;
        return reloadEstimateMs({ ...model, measuredMs }, machine.bandwidths);
      },
    };
  }

  /** Ends a reading under way. */
  async close(): Promise<void> {
    await Promise.all([this.#watch.close(), this.#gpu.close()]);
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
  lockedBytes = 0,
): MemoryState {
  const ownBytes = process.memoryUsage.rss();
  const { host, devices } = machine;
  // Mapped pages could be had again, and count as available; those that are locked could not.
  const ours =
    sum(booked.map(({ hostBytes, mappedBytes }) => hostBytes - mappedBytes)) +
    lockedBytes +
    ownBytes;
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

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
