import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "../../__fixtures__/cli.js";
import { SystemFiles } from "../system-files.js";

/** A machine that has these files. */
export async function machine(files: Record<string, string>): Promise<SystemFiles> {
  const root = await temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), `${text}\n`);
  }
  return new SystemFiles(root);
}
