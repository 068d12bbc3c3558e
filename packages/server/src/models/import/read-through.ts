import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";

const CHUNK_BYTES = 1 << 20;

/**
 * Reads a whole file, writes it to `to` where that is given, and gives its SHA-256 in lower-case hex.
 * @param reached hears the bytes of each piece that was read
 * @throws the signal's reason when aborted; what the system says otherwise
 */
export async function readThrough(
  path: string,
  to: FileHandle | null,
  reached: (bytes: number) => void,
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null);
      if (bytesRead === 0) return hash.digest("hex");
      const piece = buffer.subarray(0, bytesRead);
      hash.update(piece);
      await writeAll(to, piece);
      reached(bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function writeAll(to: FileHandle | null, piece: Buffer): Promise<void> {
  for (let at = 0; to !== null && at < piece.length; ) {
    at += (await to.write(piece, at)).bytesWritten;
  }
}
