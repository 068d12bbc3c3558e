import { mkdir } from "node:fs/promises";
import { extract } from "tar";
import { SomnusError } from "../../../http/errors.js";
import { isFromTheDisk } from "../disk-error.js";

/**
 * Unpacks one folder of a source archive, `<root>/<folder>/**`, into `into`, without that prefix.
 * Links, devices and paths that lead out of the folder are refused: a source tree needs none.
 * @throws SomnusError `model_unavailable` when the archive is damaged, refused or lacks the folder
 * @throws the system's error when the disk is full or may not be written
 * @throws the signal's reason when it fires
 */
export async function unpackSources(
  archive: string,
  folder: string,
  leaveOut: readonly string[],
  into: string,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  await mkdir(into, { recursive: true });
  const left = new Set(leaveOut);
  let files = 0;
  let refused: string | undefined;
  try {
    await extract({
      file: archive,
      cwd: into,
      strip: 2,
      strict: true,
      preserveOwner: false,
      filter: (path, entry) => {
        if (refused !== undefined || signal.aborted) return false;
        const [, inside, first, ...rest] = path.split("/");
        if (inside !== folder || first === undefined || first === "") return false;
        if (left.has(first)) return false;
        const type = "type" in entry ? entry.type : "File";
        if (!PLAIN.has(type)) refused = `${path} is a ${type}`;
        else if ([first, ...rest].includes("..")) refused = `${path} leads out of the folder`;
        if (refused !== undefined) return false;
        if (type !== "Directory") files += 1;
        return true;
      },
    });
  } catch (cause) {
    if (isFromTheDisk(cause)) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw unusable(why, cause);
  }
  signal.throwIfAborted();
  if (refused !== undefined) throw unusable(refused);
  if (files === 0) throw unusable(`it has no folder ${folder}`);
}

const PLAIN: ReadonlySet<string> = new Set(["File", "OldFile", "ContiguousFile", "Directory"]);

function unusable(why: string, cause?: unknown): SomnusError {
  return new SomnusError(
    "model_unavailable",
    `The engine's source archive cannot be used: ${why}.`,
    {
      cause,
    },
  );
}
