import { freemem } from "node:os";
import { readHostMemory } from "../../memory/hardware/index.js";
import type { ControlGroup, SystemFiles } from "../../processes/index.js";
import { memoryText } from "../quantities.js";
import { type Finding, fail, ok, warn } from "./finding.js";

const MiB = 2 ** 20;
const GiB = 2 ** 30;
/** Under this the starter model with its context and the server do not fit. */
const LEAST = 1 * GiB;
/** Under this only small models fit. */
const COMFORTABLE = 4 * GiB;

/** Memory of the machine, of the control group, and how much of it may be locked. */
export async function checkMemory(
  files: SystemFiles,
  group: Pick<ControlGroup, "memory" | "version">,
): Promise<Finding[]> {
  const memory = await readHostMemory(files, group);
  const { totalBytes: total, availableBytes, containerLimitBytes: limit, lockableBytes } = memory;
  const free = availableBytes ?? freemem();
  const findings = [
    judge("memory", free, `${memoryText(free)} available of ${memoryText(total)}`, {
      tight: "Close other programs, or choose small models.",
    }),
  ];
  if (limit !== null && limit < total) {
    const found = `${memoryText(limit)} (cgroup v${group.version})`;
    findings.push(
      judge("memory limit", limit, found, {
        tight: "Raise the container's memory limit, or choose small models.",
      }),
    );
  }
  if (lockableBytes !== null) findings.push(judgeLocked(lockableBytes, total));
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
