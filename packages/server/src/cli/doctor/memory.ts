import { freemem, totalmem } from "node:os";
import { memoryText } from "../quantities.js";
import type { GroupLimits } from "./control-group.js";
import { type Finding, fail, ok, warn } from "./finding.js";
import type { SystemFiles } from "./system-files.js";

const MiB = 2 ** 20;
const GiB = 2 ** 30;
/** Under this the starter model with its context and the server do not fit. */
const LEAST = 1 * GiB;
/** Under this only small models fit. */
const COMFORTABLE = 4 * GiB;

/** Memory of the machine, of the control group, and how much of it may be locked. */
export async function checkMemory(files: SystemFiles, limits: GroupLimits): Promise<Finding[]> {
  const meminfo = (await files.text("/proc/meminfo")) ?? "";
  const total = kilobytesOf(meminfo, "MemTotal") ?? totalmem();
  const free = kilobytesOf(meminfo, "MemAvailable") ?? freemem();
  const findings = [
    judge("memory", free, `${memoryText(free)} available of ${memoryText(total)}`, {
      tight: "Close other programs, or choose small models.",
    }),
  ];
  if (limits.memory !== null && limits.memory < total) {
    const found = `${memoryText(limits.memory)} (cgroup v${limits.version})`;
    findings.push(
      judge("memory limit", limits.memory, found, {
        tight: "Raise the container's memory limit, or choose small models.",
      }),
    );
  }
  const lockable = lockedLimit((await files.text("/proc/self/limits")) ?? "");
  if (lockable !== null) findings.push(judgeLocked(lockable, total));
  return findings;
}

function judge(check: string, bytes: number, found: string, advice: { tight: string }): Finding {
  if (bytes < LEAST) return fail(check, found, advice.tight);
  if (bytes < COMFORTABLE) return warn(check, found, advice.tight);
  return ok(check, found);
}

function judgeLocked(bytes: number, total: number): Finding {
  if (bytes >= total / 2) {
    return ok("locked memory", Number.isFinite(bytes) ? memoryText(bytes) : "no limit");
  }
  return warn(
    "locked memory",
    `${bytes < MiB ? `${bytes} bytes` : memoryText(bytes)} may be locked`,
    "Only pinning models in memory needs more: raise memlock in /etc/security/limits.d, or LimitMEMLOCK=infinity in a systemd unit.",
  );
}

/** The soft limit of RLIMIT_MEMLOCK in a /proc/PID/limits text, in bytes; Infinity for none. */
export function lockedLimit(text: string): number | null {
  const soft = /^Max locked memory\s+(\S+)/m.exec(text)?.[1];
  if (soft === undefined) return null;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

function kilobytesOf(meminfo: string, name: string): number | null {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(meminfo);
  return match === null ? null : Number(match[1]) * 1_024;
}
