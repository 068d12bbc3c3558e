import { createHash, type Hash } from "node:crypto";
import { constants } from "node:fs";
import { access, type FileHandle, open, stat } from "node:fs/promises";
import { identityOf, sameContent, sameFile } from "../file-identity.js";
import type { FileFault, KeepOrder } from "../protocol.js";
import { mappedPages } from "./mapped-pages.js";
import { CallError, type MemoryCalls } from "./memory-calls.js";

/** Bytes brought in at once: what a cancellation waits for, and one report of progress. */
const STEP_BYTES = 32 * 1024 * 1024;
const READ_BYTES = 1024 * 1024;

/** A file that cannot be kept, or no longer. */
export class FaultyFile extends Error {
  override readonly name = "FaultyFile";
  readonly fault: FileFault;

  constructor(fault: FileFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Where the pages are held, and how far from the file's start they are locked. */
interface Mapping {
  calls: MemoryCalls;
  address: number;
  lockedUpTo: number;
  /** The errno name of the refusal; null while nothing was refused. */
  refused: string | null;
  /** Whether mincore speaks the truth about this file. */
  askable: boolean;
}

/** What a mapping holds, in bytes: resident, null where the system does not tell, and of that locked. */
export interface Held {
  resident: number | null;
  locked: number;
}

/**
 * One file whose pages are brought into memory and held there. No byte of the mapping is ever read from here:
 * a file that is cut while it is mapped would end the process.
 */
export class KeptFile {
  readonly bytes: number;
  readonly #order: KeepOrder;
  readonly #file: FileHandle;
  readonly #mapping: Mapping | null;
  /** Why the file is not mapped; null when it is. */
  readonly notMapped: string | null;
  readonly #closing = new AbortController();
  /** Nothing may work on an address that is being unmapped: another mapping could be there next. */
  #work: Promise<unknown> = Promise.resolve();

  private constructor(
    order: KeepOrder,
    file: FileHandle,
    mapping: Mapping | null,
    notMapped: string | null,
  ) {
    this.bytes = order.identity.bytes;
    this.#order = order;
    this.#file = file;
    this.#mapping = mapping;
    this.notMapped = notMapped;
  }

  /**
   * Opens and maps a file; brings nothing in.
   * @throws FaultyFile when it is not the file that was ordered
   */
  static async open(order: KeepOrder, calls: MemoryCalls | null, why: string): Promise<KeptFile> {
    let file: FileHandle;
    try {
      // A pipe in the file's place must not be waited for.
      file = await open(order.path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    } catch (error) {
      throw faultOf(error);
    }
    try {
      await compare(order, file);
      if (calls === null) return new KeptFile(order, file, null, why);
      try {
        const address = await calls.map(file.fd, order.identity.bytes);
        const askable = await mincoreIsTrue(order.path, file);
        const mapping = { calls, address, lockedUpTo: 0, refused: null, askable };
        return new KeptFile(order, file, mapping, null);
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        return new KeptFile(order, file, null, `The file cannot be mapped: ${error.message}.`);
      }
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** The errno name with which locking was refused; null when all is locked, or nothing is mapped. */
  get refused(): string | null {
    return this.#mapping?.refused ?? null;
  }

  /** How far from its start the file is locked, in bytes of whole pages. */
  get lockedUpTo(): number {
    return this.#mapping?.lockedUpTo ?? 0;
  }

  /**
   * Brings the file in, step by step, and locks what may be locked.
   * @throws FaultyFile, or the reason of `signal`
   */
  bringIn(onDone: (bytes: number) => void, signal: AbortSignal): Promise<void> {
    return this.#run(async () => {
      const hash = this.#order.sha256 === null ? null : createHash("sha256");
      for (let at = 0; at < this.bytes; at += STEP_BYTES) {
        signal.throwIfAborted();
        this.#closing.signal.throwIfAborted();
        const end = Math.min(this.bytes, at + STEP_BYTES);
        await this.#bringInStep(at, end, hash);
        onDone(end);
      }
      await compare(this.#order, this.#file);
      if (hash !== null && hash.digest("hex") !== this.#order.sha256) {
        throw new FaultyFile("mismatch", "its content is not what it should be (SHA-256)");
      }
    });
  }

  /** Goes on locking where an earlier try was refused: something else may have been released since. */
  lockMore(): Promise<void> {
    return this.#run(async () => {
      const mapping = this.#mapping;
      if (mapping === null || mapping.refused === null) return;
      mapping.refused = null;
      while (mapping.lockedUpTo < this.bytes && mapping.refused === null) {
        this.#closing.signal.throwIfAborted();
        await lockUpTo(mapping, Math.min(this.bytes, mapping.lockedUpTo + STEP_BYTES));
      }
    });
  }

  /** What of the file is in memory and locked there; null when it is not mapped. Takes the time of about 10 ms a GB. */
  measure(): Promise<Held | null> {
    return this.#run(async () => {
      const mapping = this.#mapping;
      if (mapping === null) return null;
      const { pageBytes } = mapping.calls;
      const pages = Math.ceil(this.bytes / pageBytes);
      const lockedPages = Math.ceil(mapping.lockedUpTo / pageBytes);
      const locked = await residentPages(mapping, 0, lockedPages);
      const rest = await residentPages(mapping, lockedPages, pages - lockedPages);
      const toBytes = (count: number) => Math.min(this.bytes, count * pageBytes);
      // What is locked is in memory, whether that can be seen or not.
      if (locked === null || rest === null) return { resident: null, locked: mapping.lockedUpTo };
      return { resident: toBytes(locked + rest), locked: toBytes(locked) };
    });
  }

  /** @throws FaultyFile when the file under the path is no longer the one that was ordered */
  check(): Promise<void> {
    return this.#run(() => compare(this.#order, this.#file));
  }

  /** Ends what is under way, unlocks, unmaps and closes. May be called again. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) {
      await this.#work;
      return;
    }
    this.#closing.abort();
    this.#work = this.#work.then(async () => {
      const mapping = this.#mapping;
      if (mapping !== null) await mapping.calls.unmap(mapping.address, this.bytes);
      await this.#file.close();
    });
    await this.#work;
  }

  async #bringInStep(at: number, end: number, hash: Hash | null): Promise<void> {
    const mapping = this.#mapping;
    let from = at;
    if (mapping !== null) {
      if (mapping.refused === null) await lockUpTo(mapping, end);
      from = Math.max(at, mapping.lockedUpTo);
      if (from < end) {
        if (await mapping.calls.populate(mapping.address + from, end - from)) from = end;
      }
    }
    if (hash !== null) await this.#read(at, end, hash);
    else if (from < end) await this.#read(from, end, null);
  }

  /** A read brings pages into the system's cache as well as a touch does, and fails with an error, not a signal. */
  async #read(from: number, end: number, hash: Hash | null): Promise<void> {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    let at = from;
    while (at < end) {
      let count: number;
      try {
        ({ bytesRead: count } = await this.#file.read(
          buffer,
          0,
          Math.min(READ_BYTES, end - at),
          at,
        ));
      } catch (error) {
        throw faultOf(error);
      }
      if (count === 0) {
        await compare(this.#order, this.#file);
        throw new FaultyFile("unreadable", "the disk delivered less than all of it");
      }
      hash?.update(buffer.subarray(0, count));
      at += count;
    }
  }

  #run<T>(piece: () => Promise<T>): Promise<T> {
    const closed = this.#closing.signal;
    const result = this.#work.then(() => {
      closed.throwIfAborted();
      return piece();
    });
    this.#work = result.catch(() => {});
    return result;
  }
}

/**
 * Locks from where the locked part ends up to an offset, or as far as the system lets it: the limit is found to
 * the page by halving.
 */
async function lockUpTo(mapping: Mapping, end: number): Promise<void> {
  const { calls, address } = mapping;
  let bytes = end - mapping.lockedUpTo;
  while (mapping.lockedUpTo < end) {
    const answer = await calls.lock(address + mapping.lockedUpTo, bytes);
    if (answer === "locked") {
      mapping.lockedUpTo += bytes;
      bytes = Math.min(bytes, end - mapping.lockedUpTo);
      continue;
    }
    const half = Math.floor(bytes / 2 / calls.pageBytes) * calls.pageBytes;
    if (half === 0) {
      mapping.refused = answer.refused;
      return;
    }
    bytes = half;
  }
}

function residentPages(mapping: Mapping, firstPage: number, pages: number): Promise<number | null> {
  const { calls, address, askable } = mapping;
  const from = address + firstPage * calls.pageBytes;
  return askable ? calls.residentPages(from, pages) : mappedPages(from, pages, calls.pageBytes);
}

/** Linux lets only the owner and those who may write a file see which of its pages are in memory (since 5.2). */
async function mincoreIsTrue(path: string, file: FileHandle): Promise<boolean> {
  if (process.platform !== "linux") return true;
  if ((await file.stat()).uid === process.geteuid?.()) return true;
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** @throws FaultyFile when the open file, or the one under its path, is not the one that was ordered */
async function compare({ path, identity }: KeepOrder, file: FileHandle): Promise<void> {
  try {
    const [open, named] = await Promise.all([
      file.stat({ bigint: true }),
      stat(path, { bigint: true }),
    ]);
    if (!open.isFile()) throw new FaultyFile("unreadable", "it is not a regular file");
    if (!sameFile(identityOf(named), identity) || !sameFile(identityOf(open), identity)) {
      throw new FaultyFile("missing", "another file has taken its place");
    }
    const now = identityOf(open);
    if (now.bytes !== identity.bytes) {
      const how = now.bytes < identity.bytes ? "cut" : "grown";
      throw new FaultyFile("changed", `it was ${how} from ${identity.bytes} to ${now.bytes} bytes`);
    }
    if (!sameContent(now, identity)) {
      throw new FaultyFile("changed", "it was written to");
    }
  } catch (error) {
    throw error instanceof FaultyFile ? error : faultOf(error);
  }
}

function faultOf(error: unknown): FaultyFile {
  const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
  return code === "ENOENT" || code === "ENOTDIR"
    ? new FaultyFile("missing", "it is no longer there")
    : new FaultyFile("unreadable", `it cannot be read (${code})`);
}
