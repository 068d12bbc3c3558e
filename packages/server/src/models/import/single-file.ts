import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { splitName } from "../../gguf/index.js";
import type { Shelf } from "./found.js";
import { stemOfFile } from "./names.js";

/**
 * The shelf of one model that a path names: the file, the other parts of a split model beside it,
 * and a projector (mmproj) where one is given.
 */
export async function shelfOfFile(path: string, projector: string | null): Promise<Shelf> {
  const split = splitName(path);
  const paths = [path];
  if (split !== null) {
    const folder = dirname(path);
    for (const name of await readdir(folder).catch(() => [])) {
      const other = splitName(join(folder, name));
      const belongs = other?.prefix === split.prefix && other.count === split.count;
      if (belongs && other.number !== split.number) paths.push(join(folder, name));
    }
  }
  if (projector !== null) paths.push(projector);
  return {
    tool: "file",
    name: stemOfFile(path),
    isExactName: false,
    manifest: null,
    files: paths.map((one) => ({ path: one, claimedSha256: null })),
  };
}
