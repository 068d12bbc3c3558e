import { createHash, randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** Readable, and different for ids that differ only in case or in what a file name cannot hold. */
export function fileNameOf(id: string): string {
  const readable = id
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .slice(0, 100);
  return `${readable}-${createHash("sha256").update(id).digest("hex").slice(0, 8)}.json`;
}

/** Writes a file so that there is the old or the new one, whole, at any moment. */
export async function replaceFile(folder: string, name: string, text: string): Promise<void> {
  const draft = join(folder, `.${name}.${randomBytes(6).toString("hex")}`);
  try {
    const file = await open(draft, "wx");
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, join(folder, name));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  if (process.platform === "win32") return;
  const entries = await open(folder, "r");
  try {
    await entries.sync();
  } finally {
    await entries.close();
  }
}
