import { readFile, stat } from "node:fs/promises";
import { errorCode, errorText } from "./system-error.js";

/**
 * The content of a small JSON file of ours; null where there is none, or it cannot be read or is not whole.
 * `refused` hears why a thing that is there was not read. Only a regular file is opened: a FIFO would never end.
 */
export async function readJson(
  path: string,
  refused: (reason: string) => void = () => {},
): Promise<unknown> {
  try {
    if ((await stat(path)).isFile()) return JSON.parse(await readFile(path, "utf8"));
    refused("it is not a regular file");
    return null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    const code = errorCode(error);
    if (code === "") throw error;
    if (code !== "ENOENT" && code !== "ENOTDIR") refused(errorText(error));
    return null;
  }
}
