import { type LogicalCpu, readControlGroup, readCpus, SystemFiles } from "../../processes/index.js";
import type { ModelSpec } from "../engine.js";

export interface MachineCpus {
  /** Logical processors that this process may run on. */
  cpus: LogicalCpu[];
  /** Processors' worth of time that the control group grants; null without a limit. */
  quota: number | null;
}

/** A core this much slower than the fastest is an efficiency core. */
const EFFICIENCY_SHARE = 0.8;
/** From this many cores up, one is left to the rest of the system. */
const SPARE_FROM = 4;

/**
 * Compute threads of an interactive engine: one a physical performance core, one fewer from four
 * up, never more than the control group's quota, at least one.
 */
export function computeThreads(machine: MachineCpus): number {
  const fastest = Math.max(0, ...machine.cpus.map((cpu) => cpu.capacity ?? 0));
  const performance = machine.cpus.filter(
    (cpu) => cpu.capacity === null || cpu.capacity >= fastest * EFFICIENCY_SHARE,
  );
  // Where the system does not tell cores apart, each logical processor counts as one.
  const cores = new Set(performance.map((cpu) => cpu.core ?? cpu.id)).size;
  const granted = machine.quota === null ? cores : Math.min(cores, Math.floor(machine.quota));
  return Math.max(1, granted >= SPARE_FROM ? granted - 1 : granted);
}

/**
 * Compute threads of a model, of those that an interactive engine gets. One that makes vectors or ranks is a helper
 * beside it: one thread, two where there are four or more.
 */
export function threadsOf({ makes }: Pick<ModelSpec, "makes">, interactive: number): number {
  if (makes === undefined) return interactive;
  return interactive >= SPARE_FROM ? 2 : 1;
}

/** What this machine lets this process use. */
export async function readMachineCpus(): Promise<MachineCpus> {
  const [cpus, group] = await Promise.all([readCpus(), readControlGroup(new SystemFiles())]);
  return { cpus, quota: group.processors };
}
