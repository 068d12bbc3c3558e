import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { SystemFiles } from "../system-files.js";

/** A folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "somnus-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A system that has these files. */
export async function systemWith(files: Record<string, string>): Promise<SystemFiles> {
  const root = await temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), `${text}\n`);
  }
  return new SystemFiles(root);
}

/** A folder with these shell scripts, for a search path; gives the whole environment. */
export async function programs(scripts: Record<string, string>): Promise<{ PATH: string }> {
  const folder = await temporaryFolder();
  for (const [name, body] of Object.entries(scripts)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${body}\n`);
    await chmod(join(folder, name), 0o755);
  }
  return { PATH: folder };
}

/** A script's lines that print a text as it is. */
export function print(text: string): string {
  return `while IFS= read -r line; do printf '%s\\n' "$line"; done <<'END_OF_TEXT'\n${text}\nEND_OF_TEXT`;
}
