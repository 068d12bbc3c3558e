import { SystemFiles } from "../../processes/index.js";
import { kilobytes } from "./kilobytes.js";
import { nvidiaProcessBytes } from "./nvidia-processes.js";

/** What one process holds; bytes. Unmeasured is null. */
export interface EngineMemory {
  /** Memory of the process alone: `RssAnon` of /proc/PID/status. */
  privateBytes: number | null;
  /** Files that it has mapped and resident, whoever else has: `RssFile`. */
  mappedBytes: number | null;
  /** All that it holds on devices, as these tell it. */
  deviceBytes: number | null;
}

/**
 * What a process holds now, by Linux's files (https://docs.kernel.org/filesystems/proc.html) and, with
 * `devices`, by nvidia-smi. No page table is walked for it, so the process does not notice.
 * @throws the signal's reason when it fires
 */
export async function readEngineMemory(
  pid: number,
  options: {
    devices: boolean;
    env: NodeJS.ProcessEnv;
    signal: AbortSignal;
    files?: SystemFiles;
  },
): Promise<EngineMemory> {
  const { files = new SystemFiles(), devices, env, signal } = options;
  const [status, deviceBytes] = await Promise.all([
    files.text(`/proc/${pid}/status`),
    devices ? nvidiaProcessBytes(pid, { env, signal }) : null,
  ]);
  return {
    privateBytes: kilobytes(status, "RssAnon"),
    mappedBytes: kilobytes(status, "RssFile"),
    deviceBytes,
  };
}
