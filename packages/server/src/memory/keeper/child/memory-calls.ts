import { readFile } from "node:fs/promises";

/** A system call that failed, by its errno name where that is known. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: string;

  constructor(call: string, code: string) {
    super(`${call} failed (${code})`);
    this.code = code;
  }
}

/** The calls on mapped memory. Addresses are whole pages; lengths in bytes. */
export interface MemoryCalls {
  readonly pageBytes: number;
  /** Maps a whole file for reading, shared with everybody who maps it. @throws CallError */
  map(fd: number, bytes: number): Promise<number>;
  /** Also unlocks. @throws CallError */
  unmap(address: number, bytes: number): Promise<void>;
  /** Brings pages in and locks them; the errno name when the system refuses. Never touches them from here. */
  lock(address: number, bytes: number): Promise<"locked" | { refused: string }>;
  /**
   * Brings pages in and maps them, without locking. False where the system cannot do that, has no such call, or
   * where a touch would end the process: the file is shorter now, or the disk fails.
   */
  populate(address: number, bytes: number): Promise<boolean>;
  /** How many of the pages are in memory, whoever brought them in. @throws CallError */
  residentPages(address: number, pages: number): Promise<number>;
  /** Lets this process lock as much as its user may; how much that is, in bytes, Infinity without a limit. */
  raiseLockLimit(): number;
}

/** What differs between the systems (sys/mman.h and sys/resource.h of each). */
interface Constants {
  /** madvise advice of Linux 5.14 that faults pages in and returns errors where a touch would be a SIGBUS. */
  populateRead: number | null;
  memlockResource: number;
}

const SYSTEMS: Partial<Record<NodeJS.Platform, Constants>> = {
  linux: { populateRead: 22, memlockResource: 8 },
  darwin: { populateRead: null, memlockResource: 6 },
};

/** The same on Linux and macOS. */
const PROT_READ = 1;
const MAP_SHARED = 1;
/** RLIM_INFINITY is 2^64-1 on Linux, 2^63-1 on macOS: no machine has either. */
const NO_LIMIT = 2n ** 62n;
/** Pages asked about in one call of mincore. */
const RESIDENT_STEP = 1 << 18;

/** 64-bit, little-endian processors: the layout of the structures here. */
const ARCHITECTURES = ["x64", "arm64", "riscv64", "loong64"];

/** A function of the C library, run on a worker thread. */
type NativeCall = (...args: (number | Uint8Array)[]) => Promise<{ result: number; errno: number }>;

/** The memory calls of this system, or why there are none. */
export async function loadMemoryCalls(): Promise<MemoryCalls | { missing: string }> {
  const constants = SYSTEMS[process.platform];
  if (constants === undefined || !ARCHITECTURES.includes(process.arch)) {
    return {
      missing: `Pages cannot be locked on ${process.platform} (${process.arch}) in this version.`,
    };
  }
  try {
    return await bind(constants);
  } catch (error) {
    return { missing: `The native calls could not be loaded: ${(error as Error).message}` };
  }
}

async function bind(constants: Constants): Promise<MemoryCalls> {
  const { default: koffi } = await import("koffi");
  const library = koffi.load(null);
  const names = new Map(Object.entries(koffi.os.errno).map(([name, value]) => [value, name]));
  const nameOf = (errno: number) => names.get(errno) ?? `errno ${errno}`;
  const declare = (name: string, result: string, args: string[]): NativeCall => {
    const call = library.func(name, result, args);
    return (...given) =>
      new Promise((resolve, reject) => {
        call.async(...given, (error: unknown, value: number) => {
          if (error) reject(error);
          else resolve({ result: value, errno: value === -1 ? koffi.errno() : 0 });
        });
      });
  };
  const mmap = declare("mmap", "intptr_t", ["intptr_t", "size_t", "int", "int", "int", "int64_t"]);
  const munmap = declare("munmap", "int", ["intptr_t", "size_t"]);
  const mlock = declare("mlock", "int", ["intptr_t", "size_t"]);
  const madvise = declare("madvise", "int", ["intptr_t", "size_t", "int"]);
  const mincore = declare("mincore", "int", ["intptr_t", "size_t", "uint8_t *"]);
  const getrlimit = library.func("getrlimit", "int", ["int", "uint8_t *"]);
  const setrlimit = library.func("setrlimit", "int", ["int", "uint8_t *"]);
  const pageBytes = library.func("getpagesize", "int", [])() as number;

  return {
    pageBytes,
    async map(fd, bytes) {
      const { result, errno } = await mmap(0, bytes, PROT_READ, MAP_SHARED, fd, 0);
      if (result === -1) throw new CallError("mmap", nameOf(errno));
      return result;
    },
    async unmap(address, bytes) {
      const { result, errno } = await munmap(address, bytes);
      if (result !== 0) throw new CallError("munmap", nameOf(errno));
    },
    async lock(address, bytes) {
      const { result, errno } = await mlock(address, bytes);
      return result === 0 ? "locked" : { refused: nameOf(errno) };
    },
    async populate(address, bytes) {
      if (constants.populateRead === null) return false;
      return (await madvise(address, bytes, constants.populateRead)).result === 0;
    },
    async residentPages(address, pages) {
      const told = new Uint8Array(Math.min(pages, RESIDENT_STEP));
      let resident = 0;
      for (let at = 0; at < pages; at += RESIDENT_STEP) {
        const count = Math.min(RESIDENT_STEP, pages - at);
        const { result, errno } = await mincore(address + at * pageBytes, count * pageBytes, told);
        if (result !== 0) throw new CallError("mincore", nameOf(errno));
        for (let page = 0; page < count; page++) resident += told[page]! & 1;
      }
      return resident;
    },
    raiseLockLimit() {
      const limit = new Uint8Array(16);
      const view = new DataView(limit.buffer);
      if (getrlimit(constants.memlockResource, limit) !== 0) return Number.POSITIVE_INFINITY;
      const hard = view.getBigUint64(8, true);
      view.setBigUint64(0, hard, true);
      setrlimit(constants.memlockResource, limit);
      getrlimit(constants.memlockResource, limit);
      const soft = view.getBigUint64(0, true);
      return soft > NO_LIMIT ? Number.POSITIVE_INFINITY : Number(soft);
    },
  };
}

/** Locked bytes of this process as Linux counts them (VmLck of proc(5)); null on other systems. */
export async function countedLockedBytes(): Promise<number | null> {
  const text = await readFile("/proc/self/status", "latin1").catch(() => "");
  const kib = /^VmLck:\s+(\d+) kB$/m.exec(text)?.[1];
  return kib === undefined ? null : Number(kib) * 1024;
}
