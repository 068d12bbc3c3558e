import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { ByteCursor, cancelledBy } from "./byte-cursor.js";
import { Metadata } from "./metadata.js";
import { readMetadata } from "./read-metadata.js";
import { readTensors, type TensorSection } from "./read-tensors.js";
import { grouped, type Refuse, refusalOf } from "./refusal.js";
import { summarize } from "./summarize.js";
import type { GgufSummary } from "./summary.js";

const DEFAULT_ALIGNMENT = 32;
const MAGIC_AND_VERSION_BYTES = 8;
const OLDEST_VERSION = 2;
const NEWEST_VERSION = 3;

/**
 * Reads what the header of a GGUF file says about its model, in a few milliseconds and with
 * about a megabyte of memory, whatever the size of file and vocabulary. The whole header is
 * checked against the file's size and against what the engine accepts; tensor data is not read.
 *
 * The format: docs/gguf.md of the ggml project, versions 2 and 3, little-endian.
 *
 * @throws SomnusError `model_unavailable` when the file is missing, unreadable, not GGUF, cut short or
 *   damaged; `cancelled` (or the signal's own SomnusError) when `signal` is aborted
 */
export async function readGguf(path: string, signal?: AbortSignal): Promise<GgufSummary> {
  if (signal?.aborted) throw cancelledBy(signal);
  const refuse = refusalOf(basename(path));
  const handle = await openFile(path, refuse);
  try {
    const fileBytes = await sizeOf(handle, refuse);
    const cursor = new ByteCursor(handle, fileBytes, refuse, signal);
    const version = await readVersion(cursor, refuse);
    const tensorCount = await cursor.u64();
    const entryCount = await cursor.u64();
    const metadata = new Metadata(await readMetadata(cursor, entryCount, refuse), refuse);
    const section = await readTensors(cursor, tensorCount, alignmentOf(metadata, refuse), refuse);
    checkComplete(section, fileBytes, refuse);
    return summarize({ version, fileBytes, metadata, tensors: section.tensors }, refuse);
  } finally {
    await handle.close();
  }
}

async function openFile(path: string, refuse: Refuse): Promise<FileHandle> {
  try {
    // Without O_NONBLOCK a named pipe would keep open() waiting for a writer.
    return await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") throw refuse("it does not exist", error);
    if (code === "EACCES" || code === "EPERM") {
      throw refuse("this user may not read it; check its permissions", error);
    }
    throw refuse("it cannot be opened", error);
  }
}

async function sizeOf(handle: FileHandle, refuse: Refuse): Promise<number> {
  const stats = await handle.stat().catch((error: unknown) => {
    throw refuse("its size cannot be read", error);
  });
  if (!stats.isFile()) throw refuse("it is not a regular file");
  if (stats.size === 0) throw refuse("it is empty; fetch it again");
  return stats.size;
}

async function readVersion(cursor: ByteCursor, refuse: Refuse): Promise<number> {
  if (cursor.fileBytes < MAGIC_AND_VERSION_BYTES) {
    throw refuse(`it has only ${cursor.fileBytes} bytes; fetch it again`);
  }
  const start = await cursor.bytes(MAGIC_AND_VERSION_BYTES);
  if (start.toString("latin1", 0, 4) !== "GGUF") throw refuse(whatItIsInstead(start));
  const version = start.readUInt32LE(4);
  if (version !== 0 && version % 2 ** 16 === 0) {
    throw refuse("it is a big-endian GGUF file; take the little-endian file of this model");
  }
  if (version === 1) {
    throw refuse("it is GGUF version 1, which llama.cpp no longer reads; take a newer file");
  }
  if (version < OLDEST_VERSION || version > NEWEST_VERSION) {
    throw refuse(
      `it is GGUF version ${version}; versions ${OLDEST_VERSION} and ${NEWEST_VERSION} are read`,
    );
  }
  return version;
}

/** Names the usual things that lie where a GGUF file should. */
function whatItIsInstead(start: Buffer): string {
  const text = start.toString("latin1");
  if (text.startsWith("version ")) {
    return "it is a Git LFS pointer, not the model; fetch the file itself";
  }
  if (/^\s*<(!|html|head|\?xml)/i.test(text)) {
    return "it is a web page, not a model; the download went wrong";
  }
  if (["lmgg", "tjgg", "algg", "fmgg"].includes(text.slice(0, 4))) {
    return "it is a GGML file from before GGUF; take the GGUF file of this model";
  }
  return "it is not a GGUF file";
}

function alignmentOf(metadata: Metadata, refuse: Refuse): number {
  const alignment = metadata.count("general.alignment") ?? DEFAULT_ALIGNMENT;
  if (alignment === 0 || !Number.isInteger(Math.log2(alignment))) {
    throw refuse(`its header is damaged: the alignment ${alignment} is not a power of two`);
  }
  return alignment;
}

function checkComplete(section: TensorSection, fileBytes: number, refuse: Refuse): void {
  if (section.dataEnd > fileBytes) {
    throw refuse(
      `the file is cut short: ${grouped(fileBytes)} of ${grouped(section.dataEnd)} bytes; fetch it again`,
    );
  }
}
