import { randomBytes } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Replaces a JSON file of ours in one step: a reader sees the old one or the new one, also after a
 * power cut. The folder is created where it is missing.
 * @throws the system's error when it cannot be written
 */
export async function writeJson(file: string, content: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const fresh = join(dirname(file), `.json-${process.pid}-${randomBytes(4).toString("hex")}`);
  try {
    const handle = await open(fresh, "wx");
    try {
      await handle.writeFile(`${JSON.stringify(content, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}
