import type { BigIntStats } from "node:fs";
import type { FileIdentity } from "./protocol.js";

/** What tells this content of this file from any other. */
export function identityOf(stat: BigIntStats): FileIdentity {
  return {
    device: stat.dev,
    inode: stat.ino,
    bytes: Number(stat.size),
    modifiedNs: stat.mtimeNs,
  };
}

/** Whether two identities name the same file, whatever its content. */
export function sameFile(a: FileIdentity, b: FileIdentity): boolean {
  return a.device === b.device && a.inode === b.inode;
}

/** Whether two identities of one file stand for the same content. */
export function sameContent(a: FileIdentity, b: FileIdentity): boolean {
  return a.bytes === b.bytes && a.modifiedNs === b.modifiedNs;
}
