import { constants } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { takeBlocks } from "./blocks.js";

const MiB = 2 ** 20;
/** One reading from the disk. */
const BLOCK = 4 * MiB;
/** Readings under way at once, so that the disk does not wait for us; the thread pool has four. */
const AT_ONCE = 2;
const MOST = 256 * MiB;
/** Less says little about a disk. */
const LEAST = 16 * MiB;
/** A slow disk is not kept busy for longer, ms. */
const TIME_LIMIT_MS = 2_000;
/** The part of what was read that must have come from the disk. */
const FROM_DISK = 0.95;

/**
 * Bytes a second at which a file is read from its disk, past the page cache. Null where the cache
 * cannot be bypassed, which is checked: some file systems take the flag and read from memory all the
 * same, and the kernel counts what it really fetched (`read_bytes` in /proc/PID/io). What a disk, or
 * the host of a virtual one, keeps in memory of its own cannot be told.
 * @throws the signal's reason when it fires
 */
export async function diskBytesPerSecond(
  path: string,
  signal: AbortSignal,
): Promise<number | null> {
  signal.throwIfAborted();
  const direct = process.platform === "linux" ? constants.O_DIRECT : undefined;
  if (direct === undefined) return null;
  const file = await open(path, constants.O_RDONLY | direct).catch(() => null);
  if (file === null) return null;
  const blocks = takeBlocks(BLOCK * AT_ONCE);
  try {
    const { size } = await file.stat();
    const length = Math.min(MOST, Math.floor(size / BLOCK) * BLOCK);
    const before = await fetchedBytes();
    if (length < LEAST || before === null) return null;
    // The head of a model's file is what others have read most lately.
    const start = Math.floor((size - length) / 2 / BLOCK) * BLOCK;
    const begun = performance.now();
    let next = 0;
    let bytes = 0;
    const readOn = async (lane: number): Promise<void> => {
      while (next < length && performance.now() - begun < TIME_LIMIT_MS && !signal.aborted) {
        const position = start + next;
        next += BLOCK;
        bytes += (await file.read(blocks.bytes, lane * BLOCK, BLOCK, position)).bytesRead;
      }
    };
    const lanes = await Promise.allSettled(
      Array.from({ length: AT_ONCE }, (_, lane) => readOn(lane)),
    );
    const ms = performance.now() - begun;
    signal.throwIfAborted();
    const after = await fetchedBytes();
    if (lanes.some((lane) => lane.status === "rejected") || bytes < LEAST || after === null)
      return null;
    return after - before < bytes * FROM_DISK ? null : (bytes / ms) * 1_000;
  } finally {
    await file.close();
    blocks.free();
  }
}

/** Bytes that the kernel has fetched from disks for this process; null where it does not count. */
async function fetchedBytes(): Promise<number | null> {
  const io = await readFile("/proc/self/io", "utf8").catch(() => "");
  const told = /^read_bytes: (\d+)$/m.exec(io)?.[1];
  return told === undefined ? null : Number(told);
}
