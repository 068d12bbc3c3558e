import { stat } from "node:fs/promises";
import { ggufPartPaths } from "../../gguf/index.js";

/**
 * Tells whether files are the same and have the same content as before: equal for as long as none of them is
 * replaced or written to.
 * @param paths of GGUF files; of a split one its first part
 * @throws an fs error when one of them cannot be looked at
 */
export async function filesIdentity(paths: readonly string[]): Promise<string> {
  const seen = paths.flatMap(ggufPartPaths).map(async (path) => {
    const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs].join(":");
  });
  return (await Promise.all(seen)).join(" ");
}
