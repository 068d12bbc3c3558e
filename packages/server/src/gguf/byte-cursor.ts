import type { FileHandle } from "node:fs/promises";
import { SomnusError } from "../http/errors.js";
import { grouped, type Refuse } from "./refusal.js";

/** Bytes that are read at once, and the most that one value may need in memory. */
export const CHUNK_BYTES = 1024 * 1024;

/**
 * The most that a header may span. Vocabularies of 260,000 tokens make headers of about 15 MB; the
 * limit bounds the work that a hostile file of any size can ask for.
 */
export const HEADER_LIMIT_BYTES = 64 * 1024 * 1024;

const LENGTH_BYTES = 8;

/**
 * Reads the little-endian values of a file from front to back, holding one chunk of it in memory.
 * Every read and skip is checked against the end of the file first.
 */
export class ByteCursor {
  readonly #handle: FileHandle;
  readonly #refuse: Refuse;
  readonly #signal: AbortSignal | undefined;
  readonly #chunk: Buffer;
  /** The same bytes: `DataView` reads are compiled to plain loads, `Buffer` reads are not. */
  readonly #view: DataView;
  readonly fileBytes: number;
  /** Offset in the file of the first byte of the chunk. */
  #chunkStart = 0;
  #chunkFilled = 0;
  /** Offset in the chunk of the next byte; at most `#chunkFilled`. */
  #at = 0;

  constructor(handle: FileHandle, fileBytes: number, refuse: Refuse, signal?: AbortSignal) {
    this.#handle = handle;
    this.fileBytes = fileBytes;
    this.#refuse = refuse;
    this.#signal = signal;
    const memory = new ArrayBuffer(Math.min(CHUNK_BYTES, fileBytes));
    this.#chunk = Buffer.from(memory);
    this.#view = new DataView(memory);
  }

  /** Offset in the file of the next byte. */
  get position(): number {
    return this.#chunkStart + this.#at;
  }

  /** Throws unless the file can hold `count` more bytes of header. */
  demand(count: number): void {
    this.#checkReach(this.position + count);
  }

  async u32(): Promise<number> {
    await this.#need(4);
    const value = this.#view.getUint32(this.#at, true);
    this.#at += 4;
    return value;
  }

  /** A 64-bit count or length. Exact up to 2^53, rounded above it: compare it with a bound before use. */
  async u64(): Promise<number> {
    await this.#need(8);
    const value = unsigned64(this.#view, this.#at);
    this.#at += 8;
    return value;
  }

  /**
   * The next bytes, as a view that is valid until the next read.
   *
   * @param count at most `CHUNK_BYTES`
   */
  async bytes(count: number): Promise<Buffer> {
    await this.#need(count);
    const view = this.#chunk.subarray(this.#at, this.#at + count);
    this.#at += count;
    return view;
  }

  /** Passes over `count` bytes without reading them. */
  skip(count: number): void {
    this.#moveTo(this.position + count);
  }

  /** Passes over `count` length-prefixed strings; only their lengths are looked at. */
  async skipStrings(count: number): Promise<void> {
    this.demand(count * LENGTH_BYTES);
    let left = count;
    while (left > 0) {
      await this.#need(LENGTH_BYTES);
      const run = stringRun(this.#view, this.#at, this.#chunkFilled, left);
      left -= run.strings;
      this.#moveTo(this.#chunkStart + run.end);
    }
  }

  #moveTo(position: number): void {
    this.#checkReach(position);
    const at = position - this.#chunkStart;
    if (at <= this.#chunkFilled) {
      this.#at = at;
    } else {
      this.#chunkStart = position;
      this.#chunkFilled = 0;
      this.#at = 0;
    }
  }

  #checkReach(end: number): void {
    if (end > this.fileBytes) {
      throw this.#refuse(
        `it is cut short or damaged: its header needs ${grouped(end)} bytes, the file has ` +
          `${grouped(this.fileBytes)}; fetch it again`,
      );
    }
    if (end > HEADER_LIMIT_BYTES) {
      throw this.#refuse(
        `its header is larger than ${grouped(HEADER_LIMIT_BYTES)} bytes, which no model needs`,
      );
    }
  }

  async #need(count: number): Promise<void> {
    if (this.#chunkFilled - this.#at >= count) return;
    this.#checkReach(this.position + count);
    if (this.#signal?.aborted) throw cancelledBy(this.#signal);
    const start = this.position;
    const kept = this.#chunk.copy(this.#chunk, 0, this.#at, this.#chunkFilled);
    this.#chunkStart = start;
    this.#chunkFilled = kept;
    this.#at = 0;
    while (this.#chunkFilled < count) {
      const { bytesRead } = await this.#read();
      if (bytesRead === 0) {
        throw this.#refuse("it became shorter while it was read; fetch it again");
      }
      this.#chunkFilled += bytesRead;
    }
  }

  async #read(): Promise<{ bytesRead: number }> {
    const free = this.#chunk.length - this.#chunkFilled;
    try {
      return await this.#handle.read(
        this.#chunk,
        this.#chunkFilled,
        free,
        this.#chunkStart + this.#chunkFilled,
      );
    } catch (error) {
      throw this.#refuse("reading it failed; check the disk and the file's permissions", error);
    }
  }
}

/** How many of `most` strings have their length inside the chunk, and where the last of them ends. */
function stringRun(
  view: DataView,
  start: number,
  filled: number,
  most: number,
): { strings: number; end: number } {
  const last = filled - LENGTH_BYTES;
  let at = start;
  let strings = 0;
  for (; strings < most && at <= last; strings++) at += LENGTH_BYTES + unsigned64(view, at);
  return { strings, end: at };
}

function unsigned64(view: DataView, at: number): number {
  const low = view.getUint32(at, true);
  const high = view.getUint32(at + 4, true);
  return high === 0 ? low : high * 2 ** 32 + low;
}

/** The error that ends a read when its signal was aborted. */
export function cancelledBy(signal: AbortSignal): SomnusError {
  if (signal.reason instanceof SomnusError) return signal.reason;
  return new SomnusError("cancelled", "Reading the model file was cancelled.", {
    cause: signal.reason,
  });
}
