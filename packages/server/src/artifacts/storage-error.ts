import { dirname } from "node:path";
import { errorCode, errorText } from "../files/index.js";
import { SomnusError } from "../http/errors.js";
import type { ArtifactSpec, Source } from "./artifact.js";
import type { SourceFailure } from "./failure.js";
import { isDiskFull, readableBytes } from "./free-space.js";
import { labelOf } from "./spec.js";

/** The error for a file that cannot be written, moved or removed, with what to do about it. */
export function storageError(verb: string, path: string, error: unknown): SomnusError {
  return new SomnusError(
    "model_unavailable",
    `${verb} ${dirname(path)}: ${errorText(error)}. ${storageAdvice(error)}`,
    { cause: error },
  );
}

/** The error for a file that cannot be looked at, with what to do about it. */
export function unreadableError(path: string, error: unknown): SomnusError {
  const denied = ["EACCES", "EPERM"].includes(errorCode(error));
  const advice = denied
    ? "Give the user that Somnus runs as the right to read it and its folder."
    : "Look at the disk and the file, or remove the file and fetch it again.";
  return new SomnusError(
    "model_unavailable",
    `${path} cannot be read: ${errorText(error)}. ${advice}`,
    { cause: error },
  );
}

/** What to do about an error of the system while a file was written, moved or removed; one sentence. */
export function storageAdvice(error: unknown): string {
  if (isDiskFull(error)) return "Free some space there and try again.";
  switch (errorCode(error)) {
    case "EROFS":
      return "The file system is read-only: mount it writable, or choose another folder.";
    case "EACCES":
    case "EPERM":
      return "Make the folder writable for the user that Somnus runs as, or choose another one.";
    case "EISDIR":
    case "ENOTDIR":
    case "EEXIST":
    case "ENOTEMPTY":
    case "ERR_FS_EISDIR":
      return "Something else has a name that is needed there: move it elsewhere, or choose another folder that is writable.";
    default:
      return "Make the folder writable, or choose another one.";
  }
}

/**
 * The error for a file that no source brought: each source's reason, and what to do. `pin` is the hash that the
 * first download left, and where it is kept.
 */
export function noSourceLeft(
  spec: ArtifactSpec,
  path: string,
  failures: ReadonlyMap<Source, SourceFailure>,
  pin: { sha256: string; receipt: string } | null = null,
): SomnusError {
  const reasons = [...failures].map(([source, { message }]) => `${labelOf(source)}: ${message}`);
  const kinds = new Set([...failures.values()].map(({ kind }) => kind));
  const advice: string[] = [];
  if (kinds.has("disk")) {
    const room =
      spec.size === null ? "Free some space" : `Free ${readableBytes(spec.size)} or more`;
    advice.push(`${room} in ${dirname(path)} and try again.`);
  }
  if (kinds.has("unreachable") || kinds.has("faltered")) {
    advice.push("Check the network and proxy settings and try again.");
  }
  const refused = pin && [...failures.values()].some((one) => one.message.includes(pin.sha256));
  if (refused) {
    advice.push(
      `SHA-256 ${pin.sha256} is what the first download pinned, as nobody had published a hash. ` +
        `If the publisher replaced the file and you trust the new one, delete ${pin.receipt}, which holds the pin, and fetch again; somnus rm of an installed model forgets its pins too.`,
    );
  }
  const known = [
    ...(spec.size === null ? [] : [`${spec.size} bytes`]),
    ...(spec.sha256 === null ? [] : [`SHA-256 ${spec.sha256}`]),
  ];
  const which = known.length === 0 ? "" : ` (${known.join(", ")})`;
  advice.push(`Or put the file${which} at ${path} yourself.`);
  const list = reasons.length === 0 ? "no source is known for it" : reasons.join("; ");
  return new SomnusError(
    "model_unavailable",
    `${spec.file} could not be fetched. ${list}. ${advice.join(" ")}`,
  );
}
