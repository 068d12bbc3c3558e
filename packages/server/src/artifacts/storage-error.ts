import { dirname } from "node:path";
import { SomnusError } from "../http/errors.js";
import type { ArtifactSpec, Source } from "./artifact.js";
import { errorCode, errorText, type SourceFailure } from "./failure.js";
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

function storageAdvice(error: unknown): string {
  if (isDiskFull(error)) return "Free some space there and try again.";
  switch (errorCode(error)) {
    case "EROFS":
      return "The file system is read-only: mount it writable, or choose another folder.";
    case "EACCES":
    case "EPERM":
      return "Make the folder writable for the user that Somnus runs as, or choose another one.";
    default:
      return "Make the folder writable, or choose another one.";
  }
}

/** The error for a file that no source brought: each source's reason, and what to do. */
export function noSourceLeft(
  spec: ArtifactSpec,
  path: string,
  failures: ReadonlyMap<Source, SourceFailure>,
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
