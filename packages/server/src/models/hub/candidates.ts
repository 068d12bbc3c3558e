import { posix } from "node:path";
import type { RepositoryFile } from "../../artifacts/index.js";
import { splitName } from "../../gguf/index.js";
import { quantOfPath } from "./quantization.js";

/** One model of a repository: a GGUF file, or the parts of a split one. */
export interface Candidate {
  /** Null when no name says it. */
  quant: string | null;
  /** In the repository; empty at its top. */
  folder: string;
  /** The file's name without part number and ending. */
  stem: string;
  /** In the order of their parts. */
  files: RepositoryFile[];
  /** Parts that the names speak of and that are not there. */
  missingParts: number;
  /** Bytes of all files. */
  size: number;
}

/** What of a repository can be run, and what stands beside it. */
export interface Candidates {
  models: Candidate[];
  projectors: RepositoryFile[];
  /** GGUF files that cannot be stored here because of their names. */
  refused: string[];
}

/** Sorts the GGUF files of a repository into models, projectors and what is neither. */
export function findCandidates(files: readonly RepositoryFile[]): Candidates {
  const all = files.filter(({ path }) => /\.gguf$/i.test(path));
  const clashing = clashingPaths(all);
  const usable = all.filter(({ path }) => isStorable(path) && !clashing.has(path));
  const named = (pattern: RegExp) =>
    usable.filter(({ path }) => pattern.test(posix.basename(path)));
  const projectors = named(/mmproj/i);
  // Importance matrices and vocabularies are in the format too, and no models.
  const others = new Set([...projectors, ...named(/imatrix|ggml-vocab/i)]);
  return {
    models: groupParts(usable.filter((file) => !others.has(file))),
    projectors,
    refused: all.filter((file) => !usable.includes(file)).map(({ path }) => path),
  };
}

function groupParts(files: readonly RepositoryFile[]): Candidate[] {
  const groups = new Map<string, { count: number; parts: Map<number, RepositoryFile> }>();
  for (const file of files) {
    const whole = { prefix: file.path.slice(0, -".gguf".length), number: 1, count: 1 };
    const { prefix, number, count } = splitName(file.path) ?? whole;
    const key = `${prefix}\n${count}`;
    const group = groups.get(key) ?? { count, parts: new Map() };
    group.parts.set(number, file);
    groups.set(key, group);
  }
  return [...groups].map(([key, { count, parts }]) => {
    const path = key.slice(0, key.indexOf("\n"));
    const ordered = [...parts].sort(([a], [b]) => a - b).map(([, file]) => file);
    const folder = posix.dirname(path);
    return {
      quant: quantOfPath(path),
      folder: folder === "." ? "" : folder,
      stem: posix.basename(path),
      files: ordered,
      missingParts: Array.from({ length: Math.min(count, 10_000) }, (_, i) => i + 1).filter(
        (part) => !parts.has(part),
      ).length,
      size: ordered.reduce((sum, file) => sum + file.size, 0),
    };
  });
}

const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
/** A name, with what stands beside a file while it is fetched, fits the 255 bytes of the usual file systems. */
const LONGEST_NAME_BYTES = 200;

/**
 * Whether a path of a repository can be a path below a folder of ours on every platform: nothing that leads out of
 * it, hides, or cannot be written.
 */
function isStorable(path: string): boolean {
  const parts = path.split("/");
  return (
    parts.length <= 8 &&
    parts.every(
      (part) =>
        part !== "" &&
        !/^[. ]|[. ]$|[\p{C}<>:"|?*\\]/u.test(part) &&
        !WINDOWS_DEVICE.test(part) &&
        Buffer.byteLength(part) <= LONGEST_NAME_BYTES,
    )
  );
}

/** Paths that a file system without upper and lower case takes for one another. */
function clashingPaths(files: readonly RepositoryFile[]): Set<string> {
  const byFolded = new Map<string, string[]>();
  for (const { path } of files) {
    const folded = path.normalize("NFC").toLowerCase();
    byFolded.set(folded, [...(byFolded.get(folded) ?? []), path]);
  }
  return new Set([...byFolded.values()].filter((paths) => paths.length > 1).flat());
}
