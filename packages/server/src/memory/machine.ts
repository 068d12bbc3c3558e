import type { ACCELERATORS, TOPOLOGIES } from "@somnus/contract";

/** What computes. */
export type Accelerator = (typeof ACCELERATORS)[number];

/** One device with memory of its own, or a share of the machine's. Unmeasured is null; sizes in bytes. */
export interface Device {
  /** As the engine counts it. */
  index: number;
  name: string;
  totalBytes: number;
  /** What the device says is free now. */
  freeBytes: number | null;
}

/** Speeds between the places where weights live, bytes a second. Unmeasured is null. */
export interface Bandwidths {
  diskToHost: number | null;
  hostToDevice: number | null;
  /** Reading host memory that is mapped and resident. */
  host: number | null;
}

/** The memory of the machine and what of it may be used. Unknown is null; sizes in bytes. */
export interface HostMemory {
  totalBytes: number;
  /** What can be had without swapping, page cache that can be dropped included. */
  availableBytes: number | null;
  /**
   * The tightest limit of the container (cgroup), and what of it is taken, file cache that can be
   * dropped not counted: limit - used may still be had, also where a limit above leaves less.
   */
  containerLimitBytes: number | null;
  containerUsedBytes: number | null;
  /** The most that this process may lock; Infinity when there is no limit. */
  lockableBytes: number | null;
}

/** What the machine has and what Somnus may use of it. */
export interface Machine {
  accelerator: Accelerator;
  topology: (typeof TOPOLOGIES)[number];
  /** Made up by `hardware.simulate`. */
  simulated: boolean;
  name: string;
  /** Empty on a machine without an accelerator: then host memory is tier 1. */
  devices: Device[];
  host: HostMemory;
  processor: {
    model: string | null;
    physicalCores: number;
    logicalCores: number;
    /** Cores that the container grants, fractions included; null without a limit. */
    coreLimit: number | null;
  };
  bandwidths: Bandwidths;
  /** Milliseconds since 1970. */
  measuredAt: number;
  /** What could not be read, for people: a driver that fails, a device that is lost. Absent: nothing. */
  problems?: readonly string[];
}
