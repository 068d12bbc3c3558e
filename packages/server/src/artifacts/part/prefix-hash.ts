import { createHash, type Hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";

/** Read back at a time: small, because hashing holds up everything else in this process. */
const PIECE = 256 * 1024;

/** The SHA-256 of a file that is being written, taken of its beginning as that grows. */
export interface PrefixHash {
  /** These bytes were just written at `at`. They need not be read back when they follow what is hashed already. */
  wrote(at: number, bytes: Buffer): void;
  /** Everything before `end` is on disk: hashes it in the background. A failure shows in `finish`. */
  grow(end: number): void;
  /** Lower-case hex of the first `size` bytes, all of which are on disk. */
  finish(size: number, signal: AbortSignal): Promise<string>;
  /** Forgets what was hashed of bytes from `end` on. */
  cut(end: number): Promise<void>;
  /** Stops reading; resolves once nothing reads any more. */
  stop(): Promise<void>;
}

/** The hash of the file behind the handle, which stays open at least until `stop` resolves. */
export function createPrefixHash(handle: FileHandle): PrefixHash {
  let hash: Hash = createHash("sha256");
  let hashed = 0;
  let target = 0;
  let stopped = false;
  let reading: Promise<void> | null = null;
  let failure: unknown = null;

  async function read(): Promise<void> {
    const piece = Buffer.allocUnsafe(PIECE);
    while (!stopped && hashed < target) {
      const wanted = Math.min(PIECE, target - hashed);
      const { bytesRead } = await handle.read(piece, 0, wanted, hashed);
      if (bytesRead === 0) throw new Error("the part is shorter than it was");
      hash.update(piece.subarray(0, bytesRead));
      hashed += bytesRead;
    }
  }

  function grow(end: number): void {
    target = Math.max(target, end);
    if (reading || stopped || failure || hashed >= target) return;
    reading = read()
      .catch((error: unknown) => {
        failure = error;
      })
      .finally(() => {
        reading = null;
      });
  }

  async function halt(): Promise<void> {
    stopped = true;
    await reading;
  }

  return {
    wrote(at, bytes) {
      if (reading || at !== hashed || stopped) return;
      hash.update(bytes);
      hashed += bytes.length;
    },
    grow,
    async finish(size, signal) {
      const abort = () => {
        stopped = true;
      };
      signal.addEventListener("abort", abort, { once: true });
      try {
        while (hashed < size) {
          signal.throwIfAborted();
          if (failure) throw failure;
          if (stopped) throw new Error("the part is closed");
          grow(size);
          await reading;
        }
      } finally {
        signal.removeEventListener("abort", abort);
      }
      return hash.copy().digest("hex");
    },
    async cut(end) {
      await halt();
      stopped = false;
      failure = null;
      target = Math.min(target, end);
      if (hashed <= end) return;
      hash = createHash("sha256");
      hashed = 0;
    },
    stop: halt,
  };
}
