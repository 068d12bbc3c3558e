import { SomnusError } from "../../http/errors.js";
import type { HostMemory } from "../machine.js";

/** What the system needs beside everything that is locked: this share of its memory, and no less than so many bytes. */
const RESERVE_SHARE = 0.02;
const RESERVE_BYTES = 256 * 1024 * 1024;

/** What is to stay free of a memory of a size, in bytes. */
function reserve(totalBytes: number): number {
  return Math.max(RESERVE_BYTES, Math.round(totalBytes * RESERVE_SHARE));
}

/** @throws SomnusError when the budget does not hold so many bytes beside what is kept */
export function requireBudget(
  file: string,
  bytes: number,
  takenBytes: number,
  budgetBytes: number,
): void {
  if (takenBytes + bytes <= budgetBytes) return;
  throw new SomnusError(
    "insufficient_memory",
    `Keeping ${file} in memory takes ${sizeText(bytes)}, but of the ${sizeText(budgetBytes)} for kept files ${sizeText(takenBytes)} are taken. Release another one, or raise the budget.`,
  );
}

/**
 * @param pendingBytes what others that are being brought in will still take
 * @throws SomnusError when the machine or its container has no room for so many bytes now
 */
export function requireRoom(
  file: string,
  bytes: number,
  pendingBytes: number,
  host: HostMemory,
): void {
  const { totalBytes, availableBytes, containerLimitBytes, containerUsedBytes } = host;
  const places: [string, number][] = [];
  if (availableBytes !== null) places.push(["the machine", availableBytes - reserve(totalBytes)]);
  if (containerLimitBytes !== null && containerUsedBytes !== null) {
    const free = containerLimitBytes - containerUsedBytes - reserve(containerLimitBytes);
    places.push(["the container", free]);
  }
  for (const [place, free] of places) {
    const room = Math.max(0, free - pendingBytes);
    if (bytes <= room) continue;
    throw new SomnusError(
      "insufficient_memory",
      `Keeping ${file} in memory takes ${sizeText(bytes)}, but ${place} has ${sizeText(room)} to spare. Free some memory, or keep a smaller model.`,
    );
  }
}

/** Bytes for people, in powers of 1024. */
function sizeText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number.isInteger(value) || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
