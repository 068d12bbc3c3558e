import { createHash } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";

/** Names one process for as long as this machine runs: a reused process id has another start. */
export interface ProcessIdentity {
  pid: number;
  /** Clock ticks after boot at which it started (Linux, proc(5) field 22); "0" elsewhere. */
  start: string;
  /** Stands for machine, boot and process namespace: ids can only be compared inside one of them. */
  realm: string;
}

/** `unknown`: another machine's or container's process, or a system that does not tell start times. */
export type Liveness = "alive" | "dead" | "unknown";

const WRITTEN = /^(\d+)\.(\d+)\.([0-9a-f]{8})$/;

/** An identity as part of a file name: `<pid>.<start>.<realm>`. */
export function writeIdentity({ pid, start, realm }: ProcessIdentity): string {
  return `${pid}.${start}.${realm}`;
}

/** What `writeIdentity` wrote; null for any other text. */
export function readIdentity(text: string): ProcessIdentity | null {
  const [, pid, start, realm] = WRITTEN.exec(text) ?? [];
  return pid && start && realm ? { pid: Number(pid), start, realm } : null;
}

let own: Promise<ProcessIdentity> | null = null;

/** This process. */
export function ownIdentity(): Promise<ProcessIdentity> {
  own ??= (async () => ({
    pid: process.pid,
    start: (await startOf(process.pid)) ?? "0",
    realm: await currentRealm(),
  }))();
  return own;
}

/** Whether that process still runs. A killed one that its parent has not collected counts as dead. */
export async function livenessOf(other: ProcessIdentity): Promise<Liveness> {
  const me = await ownIdentity();
  if (other.realm !== me.realm) return "unknown";
  if (other.pid === me.pid) return other.start === me.start ? "alive" : "dead";
  if (me.start !== "0") {
    const start = await startOf(other.pid);
    if (start !== null) return start === other.start ? "alive" : "dead";
  }
  try {
    // Another user's process may be hidden from /proc, so its absence there proves nothing.
    process.kill(other.pid, 0);
    return "unknown";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH" ? "dead" : "unknown";
  }
}

/** Start time of a process from /proc, "ended" for a zombie; null when there is nothing to read. */
async function startOf(pid: number): Promise<string | null> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "latin1");
    // The second field is the command in parentheses and may itself hold spaces and parentheses.
    const [state, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return "ended";
    return rest[18] ?? null;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ESRCH", "ENOTDIR"].includes(code)) return null;
    throw error;
  }
}

async function currentRealm(): Promise<string> {
  const facts = await Promise.all([
    readFile("/proc/sys/kernel/random/boot_id", "latin1").catch(() => ""),
    readlink("/proc/self/ns/pid").catch(() => ""),
  ]);
  return createHash("sha256")
    .update([hostname(), ...facts].join("\n"))
    .digest("hex")
    .slice(0, 8);
}
