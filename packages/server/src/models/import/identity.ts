import { createHash } from "node:crypto";
import { open, stat } from "node:fs/promises";
import type { FoundModel } from "./found.js";

const SAMPLE_BYTES = 64 * 1024;

/** What tells a file from others whatever it is called: its device and its number there; null when it is gone. */
export async function identityOf(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? null : `${found.dev}:${found.ino}`;
}

/**
 * Puts each model under the first one with the same weights, among its `copies`: the same files, files
 * that their tools know by the same SHA-256, or files of one size with equal beginnings, middles and
 * ends.
 * @throws the signal's reason when aborted
 */
export async function joinCopies(
  models: readonly FoundModel[],
  signal: AbortSignal,
): Promise<FoundModel[]> {
  const sizes = new Map<string, number>();
  for (const model of models) sizes.set(sizesOf(model), (sizes.get(sizesOf(model)) ?? 0) + 1);
  const first = new Map<string, FoundModel>();
  const joined: FoundModel[] = [];
  for (const model of models) {
    signal.throwIfAborted();
    // Only what has a model of the same sizes beside it can be one.
    const isAlone = model.files.length === 0 || sizes.get(sizesOf(model)) === 1;
    const keys = isAlone ? [] : await keysOf(model);
    const same = keys
      .map((key) => first.get(key))
      .find((one) => one && !areKnownToDiffer(one, model));
    if (same === undefined) joined.push(model);
    else same.copies.push(model);
    for (const key of keys) if (!first.has(key)) first.set(key, same ?? model);
  }
  return joined;
}

function sizesOf({ files }: FoundModel): string {
  return files.map(({ size }) => size).join(" ");
}

/** What two models with the same weights have in common; one of them is enough. */
async function keysOf({ files }: FoundModel): Promise<string[]> {
  const identities = await Promise.all(files.map(({ path }) => identityOf(path)));
  const samples = await Promise.all(files.map(({ path }) => samplesOf(path)));
  const sums = files.map(({ claimedSha256 }) => claimedSha256);
  return [
    ...(identities.includes(null) ? [] : [`files ${identities.join(" ")}`]),
    ...(sums.includes(null) ? [] : [`sums ${sums.join(" ")}`]),
    `samples ${samples.join(" ")}`,
  ];
}

function areKnownToDiffer(a: FoundModel, b: FoundModel): boolean {
  return a.files.some(({ claimedSha256: sum }, index) => {
    const other = b.files[index]?.claimedSha256 ?? null;
    return sum !== null && other !== null && sum !== other;
  });
}

/** A digest of a file's size, beginning, middle and end; of the path where it cannot be read. */
async function samplesOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  try {
    const file = await open(path, "r");
    try {
      const { size } = await file.stat();
      hash.update(`${size}`);
      for (const at of [0, Math.floor(size / 2), Math.max(0, size - SAMPLE_BYTES)]) {
        const buffer = Buffer.alloc(SAMPLE_BYTES);
        const { bytesRead } = await file.read(buffer, 0, SAMPLE_BYTES, at);
        hash.update(buffer.subarray(0, bytesRead));
      }
    } finally {
      await file.close();
    }
  } catch {
    return path;
  }
  return hash.digest("hex");
}
