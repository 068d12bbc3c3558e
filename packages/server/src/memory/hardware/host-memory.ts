import { freemem, totalmem } from "node:os";
import type { ControlGroup, SystemFiles } from "../../processes/index.js";
import type { HostMemory } from "../machine.js";
import { kilobytes } from "./kilobytes.js";
import { readLockable } from "./locked-memory.js";

/** Host memory of a system without Linux's files: what Node.js tells, and nothing about limits. */
export function hostMemoryOfNode(): HostMemory {
  return {
    totalBytes: totalmem(),
    // Elsewhere "free" leaves out what could be had by dropping caches.
    availableBytes: process.platform === "win32" ? freemem() : null,
    containerLimitBytes: null,
    containerUsedBytes: null,
    lockableBytes: null,
  };
}

/**
 * Host memory by Linux's files (https://docs.kernel.org/filesystems/proc.html#meminfo), under the
 * limits of a control group.
 */
export async function readHostMemory(
  files: SystemFiles,
  group: Pick<ControlGroup, "memory">,
): Promise<HostMemory> {
  const [meminfo, lockableBytes] = await Promise.all([
    files.text("/proc/meminfo"),
    readLockable(files),
  ]);
  return {
    totalBytes: kilobytes(meminfo, "MemTotal") ?? totalmem(),
    availableBytes: kilobytes(meminfo, "MemAvailable"),
    containerLimitBytes: group.memory?.limitBytes ?? null,
    containerUsedBytes: group.memory?.usedBytes ?? null,
    lockableBytes,
  };
}
