import { askProgram } from "./ask-program.js";
import { findNvidiaSmi } from "./nvidia.js";

const MiB = 2 ** 20;
const TIMEOUT_MS = 10_000;

/**
 * Memory that a process holds on NVIDIA's devices, all together; null where that is not told: without
 * nvidia-smi, on Windows' usual driver, or in a container whose process numbers are not the driver's.
 * @throws the signal's reason when it fires
 */
export async function nvidiaProcessBytes(
  pid: number,
  options: { env: NodeJS.ProcessEnv; signal: AbortSignal; places?: readonly string[] },
): Promise<number | null> {
  const { env, signal, places } = options;
  const found = { env, platform: process.platform, ...(places === undefined ? {} : { places }) };
  const program = await findNvidiaSmi(found);
  if (program === null) return null;
  const args = ["--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"];
  const answer = await askProgram(program, args, { env, signal, timeoutMs: TIMEOUT_MS });
  if (answer.kind !== "ended" || answer.code !== 0) return null;
  return bytesOf(answer.stdout, pid);
}

function bytesOf(listing: string, pid: number): number | null {
  let bytes: number | null = null;
  for (const line of listing.split(/\r?\n/)) {
    const [process, used = ""] = line.split(",").map((part) => part.trim());
    if (process !== String(pid) || !/^\d+$/.test(used)) continue;
    bytes = (bytes ?? 0) + Number(used) * MiB;
  }
  return bytes;
}
