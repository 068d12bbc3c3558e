import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import Type, { type Static } from "typebox";
import { readShaped } from "../read-shaped.js";

/** Kept when a build with an accelerator failed, so that not every start spends minutes on it again. */
const FailedBuild = Type.Object({
  failed_at: Type.String(),
  log: Type.String(),
  lines: Type.Array(Type.String()),
});
export type FailedBuild = Static<typeof FailedBuild>;

/** Where it is noted that what belongs in a folder of builds did not work here. */
export function failedBuildFile(root: string, { folder }: { folder: string }): string {
  return join(root, "failed", `${folder}.json`);
}

/** The note in a file, or null when there is none. */
export async function readFailedBuild(file: string): Promise<FailedBuild | null> {
  return readShaped(file, FailedBuild);
}

/** Keeps the note. @throws the system's error when it cannot be written */
export async function writeFailedBuild(file: string, note: FailedBuild): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(note, null, 2)}\n`);
}
