import { SystemFiles } from "../../processes/index.js";
import { kilobytes } from "./kilobytes.js";

/** Memory of this process and of all that it has started, directly or not. Bytes. */
export interface ProcessMemory {
  /** Resident pages of each process; what two of them share counts twice. */
  residentBytes: number;
  /** Each page once: what others share is divided among those who do. Null where that is not told. */
  footprintBytes: number | null;
}

/**
 * What the processes of this server take together, by Linux's files
 * (https://docs.kernel.org/filesystems/proc.html); null on a system without them. A process that ends
 * meanwhile is left out.
 */
export async function readProcessMemory(
  files: SystemFiles = new SystemFiles(),
  pid: number = process.pid,
): Promise<ProcessMemory | null> {
  const own = await memoryOf(files, pid);
  if (own === null) return null;
  const rest = await Promise.all(
    (await descendantsOf(files, pid)).map((one) => memoryOf(files, one)),
  );
  const all = [own, ...rest.filter((one) => one !== null)];
  const footprints = all.map((one) => one.footprintBytes);
  return {
    residentBytes: sum(all.map((one) => one.residentBytes)),
    footprintBytes: footprints.includes(null) ? null : sum(footprints as number[]),
  };
}

async function descendantsOf(files: SystemFiles, pid: number): Promise<number[]> {
  const threads = await files.names(`/proc/${pid}/task`);
  const lists = await Promise.all(
    threads.map((thread) => files.text(`/proc/${pid}/task/${thread}/children`)),
  );
  const children = lists.flatMap((list) => (list === null || list === "" ? [] : list.split(/\s+/)));
  const below = await Promise.all(children.map((child) => descendantsOf(files, Number(child))));
  return [...children.map(Number), ...below.flat()];
}

async function memoryOf(files: SystemFiles, pid: number): Promise<ProcessMemory | null> {
  const [status, rollup] = await Promise.all([
    files.text(`/proc/${pid}/status`),
    files.text(`/proc/${pid}/smaps_rollup`),
  ]);
  const residentBytes = kilobytes(status, "VmRSS");
  if (residentBytes === null) return null;
  return { residentBytes, footprintBytes: kilobytes(rollup, "Pss") };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
