import type { Accelerator } from "../machine.js";

/** One graphics processor as its driver describes it. Sizes in bytes. */
export interface GpuReading {
  /** As an engine counts it. */
  index: number;
  name: string;
  /** Null where it has no memory of its own: then it is the machine's. */
  totalBytes: number | null;
  freeBytes: number | null;
  /** Whether its memory is a share of the machine's. */
  unified: boolean;
}

/** What was found of one maker's graphics processors. */
export interface GpuFindings {
  /** What can compute on them, the fastest first. */
  accelerators: readonly Accelerator[];
  gpus: GpuReading[];
  /** What could not be read, for people. */
  problems: string[];
}

export const NOTHING: GpuFindings = { accelerators: [], gpus: [], problems: [] };
