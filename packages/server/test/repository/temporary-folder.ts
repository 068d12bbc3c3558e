import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder with the given files, by path; removed when the test ends. */
export function temporaryFolder(files: Readonly<Record<string, string>>): string {
  const folder = lastingFolder(files);
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** A folder with the given files for several tests; its maker removes it. */
export function lastingFolder(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "somnus-repository-")));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** Removes a folder of these tests with all that is in it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
