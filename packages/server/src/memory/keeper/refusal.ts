import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { type ErrorCode, SomnusError } from "../../http/errors.js";
import { identityOf } from "./file-identity.js";
import type { LossReason } from "./kept.js";
import type { FileIdentity } from "./protocol.js";

/** Why a file is not kept, as the error of whoever wants it. */
export function refusal(reason: LossReason, path: string, detail: string): SomnusError {
  return new SomnusError(codeOf(reason), `${basename(path)} cannot be kept in memory: ${detail}.`);
}

/** For those who come too late. */
export function closedError(): SomnusError {
  return new SomnusError("shutting_down", "The server is shutting down.");
}

/** @throws SomnusError when there is no file with content under the path */
export async function identify(path: string): Promise<FileIdentity> {
  try {
    const found = await stat(path, { bigint: true });
    if (found.isFile() && found.size > 0n) return identityOf(found);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw refusal("missing", path, "it is not there");
    throw refusal("unreadable", path, `it cannot be read (${code})`);
  }
  throw refusal("unreadable", path, "it is not a file with content");
}

function codeOf(reason: LossReason): ErrorCode {
  if (reason === "keeper_failed") return "engine_failed";
  return reason === "no_room" ? "insufficient_memory" : "model_unavailable";
}
