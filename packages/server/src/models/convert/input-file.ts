import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { InputFiles } from "./converter.js";
import { type Refuse, refusalOf } from "./refusal.js";

/** An open input. What cannot be read of it is a `SomnusError` `model_unavailable` that names it. */
export interface InputFile {
  readonly name: string;
  readonly size: number;
  readonly refuse: Refuse;
  /** Fills `into` with the bytes from `position` on. */
  read(into: Uint8Array, position: number): Promise<void>;
  close(): Promise<void>;
}

/** @throws SomnusError `model_unavailable` when it is not among the files, or no readable regular file */
export async function openInput(files: InputFiles, name: string): Promise<InputFile> {
  const refuse = refusalOf(name);
  const path = files.get(name);
  if (path === undefined) throw refuse("is missing");
  const handle = await opened(path, refuse);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw refuse("is not a regular file");
    return {
      name,
      size: stats.size,
      refuse,
      read: (into, position) => readWhole(handle, into, position, refuse),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * A whole small text file.
 * @param mostBytes a larger file is refused unread
 * @throws SomnusError `model_unavailable` when it is missing, too large or not UTF-8
 */
export async function readText(
  files: InputFiles,
  name: string,
  mostBytes: number,
): Promise<string> {
  const input = await openInput(files, name);
  try {
    if (input.size > mostBytes) {
      throw input.refuse(
        `has ${input.size} bytes, more than the ${mostBytes} that any model needs`,
      );
    }
    const bytes = new Uint8Array(input.size);
    await input.read(bytes, 0);
    return decodeUtf8(bytes, input.refuse);
  } finally {
    await input.close();
  }
}

/** @throws SomnusError `model_unavailable` for bytes that are not UTF-8 */
export function decodeUtf8(bytes: Uint8Array, refuse: Refuse): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw refuse("is not text in UTF-8", error);
  }
}

async function opened(path: string, refuse: Refuse): Promise<FileHandle> {
  try {
    // Without O_NONBLOCK a named pipe would keep open() waiting for a writer.
    return await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (code === "ENOENT" || code === "ENOTDIR") throw refuse("does not exist", error);
    if (code === "EACCES" || code === "EPERM") {
      throw refuse("may not be read by this user; check its permissions", error);
    }
    throw refuse(`cannot be opened (${code})`, error);
  }
}

async function readWhole(
  handle: FileHandle,
  into: Uint8Array,
  position: number,
  refuse: Refuse,
): Promise<void> {
  for (let done = 0; done < into.length; ) {
    const { bytesRead } = await handle
      .read(into, done, into.length - done, position + done)
      .catch((error: unknown) => {
        throw refuse("cannot be read; check the disk", error);
      });
    if (bytesRead === 0) throw refuse("is cut short, or became shorter while it was read");
    done += bytesRead;
  }
}
