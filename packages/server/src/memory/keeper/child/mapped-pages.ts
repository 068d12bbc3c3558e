import { type FileHandle, open } from "node:fs/promises";

/** Bit 63 of an entry: the page is in memory (https://www.kernel.org/doc/html/latest/admin-guide/mm/pagemap.html). */
const PRESENT_BYTE = 7;
const PRESENT = 0x80;
const ENTRY_BYTES = 8;
const ENTRIES_AT_ONCE = 1 << 17;

/**
 * How many of some pages this process has mapped and in memory, from its page table. Linux answers mincore about
 * a file that the user neither owns nor may write with "all of them", whatever is so; this it answers truly.
 * Null where the process may not read it: one that has changed its user, or got capabilities from its program's file.
 */
export async function mappedPages(
  address: number,
  pages: number,
  pageBytes: number,
): Promise<number | null> {
  let table: FileHandle;
  try {
    table = await open("/proc/self/pagemap", "r");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EACCES" || code === "EPERM") return null;
    throw error;
  }
  try {
    const entries = new Uint8Array(Math.min(pages, ENTRIES_AT_ONCE) * ENTRY_BYTES);
    let present = 0;
    for (let at = 0; at < pages; at += ENTRIES_AT_ONCE) {
      const wanted = Math.min(ENTRIES_AT_ONCE, pages - at) * ENTRY_BYTES;
      const position = (address / pageBytes + at) * ENTRY_BYTES;
      const { bytesRead } = await table.read(entries, 0, wanted, position);
      for (let entry = PRESENT_BYTE; entry < bytesRead; entry += ENTRY_BYTES) {
        if ((entries[entry]! & PRESENT) !== 0) present++;
      }
      if (bytesRead < wanted) break;
    }
    return present;
  } finally {
    await table.close();
  }
}
