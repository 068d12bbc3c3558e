import { link, rm, symlink } from "node:fs/promises";
import { SourceFailure } from "../failure.js";
import type { Attempt } from "../sources/attempt.js";
import { bringFile } from "../sources/file.js";
import type { CachedFile } from "./cache.js";
import { hashContent, isGitBlob, otherContent } from "./content-hash.js";

/**
 * Takes a file of the hub's cache without copying it: under a second name where the file system allows that, else by
 * a symbolic link, so that it is used where it lies and goes when the cache is emptied. Only where neither can be made
 * it is copied, and the transfer says so. Read whole and checked in any case.
 *
 * @throws SourceFailure `wrong` when it is not the expected file, whatever the cache calls it
 */
export async function useCached(cached: CachedFile, attempt: Attempt): Promise<void> {
  const { spec, transfer, signal, linkPath } = attempt;
  if (spec.size !== null && cached.size !== spec.size) {
    throw new SourceFailure("wrong", `it has ${cached.size} bytes instead of ${spec.size}`);
  }
  transfer.expect(cached.size);
  transfer.note(`checking ${spec.file} of the Hugging Face cache`);
  const { sha256, gitBlob } = await hashContent(cached, signal, transfer.reached);
  const wanted = spec.sha256 ?? cached.etag;
  const is = spec.sha256 === null && isGitBlob(cached.etag) ? gitBlob : sha256;
  if (wanted !== null && is !== wanted) {
    throw new SourceFailure("wrong", otherContent(is, wanted));
  }
  const told = cached.etag === null ? {} : { sha256 };
  const how = await placeLink(cached.path, linkPath);
  attempt.log.info(
    { file: spec.file, cached: cached.path, how },
    "a file of the hub's cache is used",
  );
  if (how !== "copied") {
    attempt.linked({ path: linkPath, size: cached.size, sha256 }, told);
    return;
  }
  transfer.note(`copying ${spec.file} from the Hugging Face cache, as it cannot be linked there`);
  transfer.resumed(0);
  await bringFile({ type: "file", path: cached.path }, attempt, told);
}

async function placeLink(
  from: string,
  to: string,
): Promise<"second name" | "symbolic link" | "copied"> {
  await rm(to, { force: true });
  try {
    await link(from, to);
    return "second name";
  } catch {
    // Another file system, a file of another user, or no links there at all.
  }
  try {
    await symlink(from, to);
    return "symbolic link";
  } catch {
    return "copied";
  }
}
