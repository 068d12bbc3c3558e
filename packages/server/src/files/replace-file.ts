import { randomBytes } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/**
 * Writes a small file of ours whole: a reader sees the old one or the new one, also after a power cut. The
 * draft stands beside it as `.<name>.<hex>`; a killed process may leave one. The folder is made where it is
 * missing.
 * @throws the system's error when it cannot be written; nothing is left then
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const name = basename(path);
  const hidden = name.startsWith(".") ? name : `.${name}`;
  const draft = join(folder, `${hidden}.${randomBytes(6).toString("hex")}`);
  await mkdir(folder, { recursive: true });
  try {
    const file = await open(draft, "wx");
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** `replaceFile` with a value as readable JSON. */
export function replaceJson(path: string, value: unknown): Promise<void> {
  return replaceFile(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** Brings the names in a folder to the disk, so that a file that was renamed there survives a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows opens no folder.
  if (process.platform === "win32") return;
  const entries = await open(folder, "r");
  try {
    await entries.sync();
  } finally {
    await entries.close();
  }
}

/** Brings a file's content to the disk. @throws the system's error */
export async function syncFile(path: string): Promise<void> {
  // Windows asks for the right to write.
  const file = await open(path, process.platform === "win32" ? "r+" : "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
