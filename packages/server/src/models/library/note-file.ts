import { createHash } from "node:crypto";

/** Readable, and different for ids that differ only in case or in what a file name cannot hold. */
export function fileNameOf(id: string): string {
  const readable = id
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .slice(0, 100);
  return `${readable}-${createHash("sha256").update(id).digest("hex").slice(0, 8)}.json`;
}
