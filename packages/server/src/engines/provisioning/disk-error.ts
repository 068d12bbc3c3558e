import { isDiskFull } from "../../artifacts/index.js";
import { SomnusError } from "../../http/errors.js";
import { SET_PATH } from "./advice.js";

/** The error for people when the system refused to write; any other error as it is. */
export function explainDiskError(error: unknown, name: string, root: string): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? "";
  if (isDiskFull(error)) return diskFull(name, root, "it is full", error);
  const denied = ["EACCES", "EPERM", "EROFS", "EEXIST", "ENOTDIR"].includes(code);
  return denied ? notWritable(root, error) : error;
}

/** Whether the system refused to write: the disk is full, or may not be written. */
export function isFromTheDisk(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? "";
  return isDiskFull(error) || ["EACCES", "EPERM", "EROFS"].includes(code);
}

/** Too little room for an engine, with why in words. */
export function diskFull(name: string, root: string, why: string, cause?: unknown): SomnusError {
  const message = `${name} cannot be put on this machine: there is too little room on the disk of ${root} (${why}). Make room and start again, or ${SET_PATH}.`;
  return new SomnusError("model_unavailable", message, { cause });
}

function notWritable(folder: string, cause: unknown): SomnusError {
  const message = `The engine's folder ${folder} cannot be written. Give this user the right to, or ${SET_PATH}.`;
  return new SomnusError("model_unavailable", message, { cause });
}

/** The error for a program of the user's own that works but cannot be noted as a build in `root`. */
export function explainUnkept(path: string, root: string, cause: unknown): SomnusError {
  const code = (cause as NodeJS.ErrnoException | null)?.code ?? "unknown error";
  const advice = isDiskFull(cause)
    ? "Make room there and try again"
    : "Give this user the right to write there";
  const message = `${path} works, but is not installed: that cannot be noted in ${root} (${code}). ${advice}, or ${SET_PATH}.`;
  return new SomnusError("model_unavailable", message, { cause });
}
