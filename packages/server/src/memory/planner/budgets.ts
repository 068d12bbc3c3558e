import type { Bandwidths, HostMemory, Machine } from "../machine.js";
import { metalShareBytes } from "../metal-share.js";

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

/** Kept free on a device of its own memory, for its driver and what estimates leave out. */
const DEVICE_RESERVE = 512 * MiB;
/** Left to the system where it shares its memory with the device, as the first contract has it. */
const UNIFIED_RESERVE = 4 * GiB;
/** Left to the system elsewhere: a tenth of the memory, within bounds. */
const HOST_RESERVE = { share: 0.1, least: 256 * MiB, most: 4 * GiB };

/** A place where memory is booked. Bytes. */
export interface Budget {
  /** What Somnus may use at most. */
  bytes: number;
  /** What others hold of it, as measured. */
  unaccountedBytes: number;
}

/** What may be used of a machine's memory. Bytes. */
export interface Budgets {
  devices: (Budget & { name: string })[];
  host: Budget;
  /** Memory of the devices is memory of the host. */
  unified: boolean;
  /** An engine's weights on the device are the mapped pages of the artifact themselves. */
  deviceMapsWeights: boolean;
  /** For models that are kept warm in host memory, a part of the host's. */
  tier2Bytes: number;
  /** `hardware.max_process_memory_bytes`: server, engines and kept models together. */
  processMemoryCapBytes: number | null;
  /** What the server itself takes of host memory. */
  ownBytes: number;
  bandwidths: Bandwidths;
}

/** What the machine does not say of itself. Bytes. */
export interface BudgetTerms {
  /** `hardware.max_process_memory_bytes`; null without a cap. */
  processMemoryCapBytes: number | null;
  /** Resident memory of the server's own processes. */
  ownBytes: number;
  /** Measured use that no model of ours explains, a device each in order; see `unaccountedOn`. */
  unaccountedDeviceBytes: readonly number[];
  unaccountedHostBytes: number;
}

/** What Somnus may use of a machine. */
export function budgetsOf(machine: Machine, terms: BudgetTerms): Budgets {
  const unified = machine.topology === "UnifiedMemory" && machine.devices.length > 0;
  const { host } = machine;
  const granted = grantedBytes(host);
  const reserve = unified
    ? UNIFIED_RESERVE
    : Math.min(HOST_RESERVE.most, Math.max(HOST_RESERVE.least, granted * HOST_RESERVE.share));
  const hostBytes = Math.max(0, Math.floor(granted - reserve));
  return {
    devices: machine.devices.map((device, i) => ({
      name: device.name,
      bytes: Math.max(0, deviceBudget(machine, device.totalBytes, unified)),
      unaccountedBytes: terms.unaccountedDeviceBytes[i] ?? 0,
    })),
    host: {
      bytes: hostBytes,
      // What the system takes is measured as well: only what goes beyond its reserve is taken twice.
      unaccountedBytes: Math.max(0, Math.ceil(terms.unaccountedHostBytes - reserve)),
    },
    unified,
    deviceMapsWeights: unified && machine.accelerator === "AppleMetal",
    tier2Bytes: Math.min(hostBytes, Math.floor(granted / 2)),
    processMemoryCapBytes: terms.processMemoryCapBytes,
    ownBytes: terms.ownBytes,
    bandwidths: machine.bandwidths,
  };
}

/** Host memory, a container's limit applied. */
export function grantedBytes({ totalBytes, containerLimitBytes }: HostMemory): number {
  return Math.min(totalBytes, containerLimitBytes ?? totalBytes);
}

/** What others hold of a memory: what is used of it beyond what we have booked; 0 while it is unmeasured. */
export function unaccountedOn(
  memory: { totalBytes: number; freeBytes: number | null },
  bookedBytes: number,
): number {
  if (memory.freeBytes === null) return 0;
  return Math.max(0, memory.totalBytes - memory.freeBytes - bookedBytes);
}

function deviceBudget(machine: Machine, totalBytes: number, unified: boolean): number {
  if (!unified) return totalBytes - DEVICE_RESERVE;
  // A measured device tells its working set; a made-up one only the machine's memory.
  if (!machine.simulated) return totalBytes;
  return Math.min(totalBytes, metalShareBytes(machine.host.totalBytes));
}
