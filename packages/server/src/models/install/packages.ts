import { readdir, rm, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  holderText,
  type SharedPackages,
  sharePackages,
  sharingLock,
  withLock,
} from "../../artifacts/index.js";
import { artifactOf, type CatalogVariant, isConverted } from "../catalog/index.js";
import type { InstallOptions } from "./options.js";
import { pullKeyOf } from "./pull-key.js";

/** An install that was given up for so long is not gone on with, milliseconds. */
const STALE_MS = 24 * 3_600_000;

/**
 * Runs `work`, which fetches what a variant is made of, with the packages that its files or their inputs share kept
 * in the models folder until then. What installs that were given up left there long ago goes.
 * @throws as `sharePackages` does
 */
export async function withPackages<T>(
  variant: CatalogVariant,
  { modelsDir, on, signal }: Pick<InstallOptions, "modelsDir" | "on" | "signal">,
  work: (packages: SharedPackages | null) => Promise<T>,
): Promise<T> {
  const specs = variant.files.flatMap((file) =>
    isConverted(file) ? file.convert.inputs.map(artifactOf) : [artifactOf(file)],
  );
  const onWait = (holder: { pid: number } | null) =>
    on({
      step: `waiting for ${holderText(holder)} to fetch the same packages`,
      file: pullKeyOf(variant),
      done: 0,
      unit: "bytes",
    });
  await sweep(modelsDir);
  try {
    return await sharePackages(specs, packagesFolder(variant, modelsDir), { signal, onWait }, work);
  } finally {
    await removeRoot(modelsDir);
  }
}

/** Removes the packages that an install of the variant left, unless one is under way. */
export async function removePackages(variant: CatalogVariant, modelsDir: string): Promise<void> {
  await removeUnused(packagesFolder(variant, modelsDir));
  await removeRoot(modelsDir);
}

/** Removes what nobody has gone on with for long. */
async function sweep(modelsDir: string): Promise<void> {
  const root = rootOf(modelsDir);
  for (const name of await readdir(root).catch(() => [])) {
    const found = await stat(join(root, name)).catch(() => null);
    if (found === null || Date.now() - found.mtimeMs < STALE_MS) continue;
    // A killed process may have left its lock alone.
    await removeUnused(join(root, /^\.(.+)\.lock$/.exec(name)?.[1] ?? name));
  }
}

/** Removes a folder of packages whose lock can be had at once. */
async function removeUnused(folder: string): Promise<void> {
  const there = await Promise.all(
    [folder, sharingLock(folder)].map((path) => stat(path).catch(() => null)),
  );
  if (there.every((found) => found === null)) return;
  const held = new AbortController();
  const waiting = { signal: held.signal, onWait: () => held.abort() };
  await withLock(sharingLock(folder), waiting, () =>
    rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  ).catch(() => {
    // Somebody works with it, or it cannot be removed; either is no reason to stop.
  });
}

/** It stays where another install is under way or was stopped. */
async function removeRoot(modelsDir: string): Promise<void> {
  await rmdir(rootOf(modelsDir)).catch(() => {});
}

function rootOf(modelsDir: string): string {
  return join(modelsDir, ".packages");
}

/** Where the packages wait that files of the variant share. */
export function packagesFolder(variant: CatalogVariant, modelsDir: string): string {
  return join(rootOf(modelsDir), pullKeyOf(variant));
}
