import { readdir } from "node:fs/promises";
import { join, posix, resolve } from "node:path";
import { SomnusError } from "../../http/errors.js";
import type { Converter, InputFiles } from "./converter.js";

/**
 * The files of a model's folder that the converter makes use of, as far as they are there.
 * @throws SomnusError `invalid_request` when no folder is named, or it cannot be listed
 */
export async function filesOf(
  folder: string | undefined,
  converter: Pick<Converter, "files">,
): Promise<InputFiles> {
  if (folder === undefined) throw unusable("Name the folder of the model to convert.");
  const found = new Map<string, string>();
  const names = new Map<string, string[]>();
  for (const wanted of converter.files) {
    const inner = posix.dirname(wanted);
    if (!names.has(inner)) names.set(inner, await namesIn(folder, inner));
    const pattern = patternOf(posix.basename(wanted));
    for (const name of names.get(inner)!) {
      if (pattern.test(name)) found.set(posix.join(inner, name), resolve(folder, inner, name));
    }
  }
  return found;
}

async function namesIn(folder: string, inner: string): Promise<string[]> {
  try {
    return (await readdir(join(folder, inner))).sort();
  } catch (error) {
    if (inner !== ".") return [];
    const reason = error instanceof Error ? error.message : String(error);
    throw unusable(`The folder to convert cannot be read: ${reason}.`, error);
  }
}

function patternOf(name: string): RegExp {
  const literal = name.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${literal.join("[^/]*")}$`);
}

function unusable(message: string, cause?: unknown): SomnusError {
  return new SomnusError("invalid_request", message, { param: "folder", cause });
}
