import type { SystemFiles } from "../../processes/index.js";

/** Number of CAP_IPC_LOCK (https://man7.org/linux/man-pages/man7/capabilities.7.html). */
const CAP_IPC_LOCK = 14n;
/** A user namespace that maps all users to themselves: the system's own. */
const WHOLE_MAP = /^0\s+0\s+4294967295$/;

/**
 * The most memory that this process may lock, in bytes; Infinity without a limit, null where it is not
 * told. Who has CAP_IPC_LOCK is not limited, but only outside of user namespaces: mlock(2) asks for
 * the capability in the first one, and a rootless container has it in its own.
 */
export async function readLockable(files: SystemFiles): Promise<number | null> {
  const [limits, status, users] = await Promise.all([
    files.text("/proc/self/limits"),
    files.text("/proc/self/status"),
    files.text("/proc/self/uid_map"),
  ]);
  const capabilities = /^CapEff:\s*([0-9a-f]+)$/m.exec(status ?? "")?.[1];
  const mayLock =
    capabilities !== undefined && ((BigInt(`0x${capabilities}`) >> CAP_IPC_LOCK) & 1n) === 1n;
  if (mayLock && WHOLE_MAP.test(users ?? "")) return Number.POSITIVE_INFINITY;
  return lockedLimit(limits ?? "");
}

/** The soft limit of RLIMIT_MEMLOCK in a /proc/PID/limits text, in bytes; Infinity for none. */
export function lockedLimit(text: string): number | null {
  const soft = /^Max locked memory\s+(\S+)/m.exec(text)?.[1];
  if (soft === undefined) return null;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}
