import { chmod, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { syncFile } from "../../../files/index.js";
import type { OnProgress } from "../../../observe/index.js";
import { isExecutableFile } from "../../../processes/index.js";
import { listDevices } from "../../llama/index.js";
import { accept, type Verdict } from "../accept.js";
import type { Receipt } from "../receipt.js";
import { removeFolder, workFolderName } from "../source-build/leftovers.js";
import { type Context, programFile, RECEIPT } from "../way.js";
import type { ReleasePlan } from "./choose-assets.js";
import { pinKey, readPin, writePin } from "./pins.js";
import { unpackRelease } from "./unpack-release.js";

/** Release archives hold some dozens of files. */
const MOST_ENTRIES = 5_000;

type ReleaseFiles = NonNullable<Receipt["release"]>["files"];

/**
 * Fetches the files of a plan, unpacks them, tries the program and moves it into its folder in one
 * rename. Call it only while holding the build lock. Whatever happens, the work folder is gone when
 * this settles; when this process is killed, the next one sweeps it and finds the archives again.
 * Gives why not when the program does not work here.
 * @throws SomnusError `model_unavailable` when a file cannot be had or is not what it should be
 * @throws the system's error when it refuses to write, see `underLock`
 * @throws the signal's reason when it fires
 */
export async function installRelease(
  plan: ReleasePlan,
  context: Context,
  on: OnProgress,
  signal: AbortSignal,
): Promise<Verdict> {
  const { root, engine, trial, options } = context;
  const name = `${engine.name} ${plan.number} (${plan.variant})`;
  const downloads = join(
    resolve(options.cacheDir),
    "downloads",
    `${plan.number}-${plan.asset.os}-${plan.asset.arch}-${plan.variant}`,
  );
  const work = join(root, await workFolderName());
  try {
    await mkdir(work, { recursive: true });
    const files: ReleaseFiles = [];
    const result = join(work, "result");
    for (const wanted of plan.asset.files) {
      const { path, ...facts } = await fetchFile(wanted, plan, downloads, context, on, signal);
      files.push(facts);
      on({ step: `unpacking ${name}`, done: 0, unit: "steps" });
      const limits = { bytes: plan.mostUnpackedBytes, entries: MOST_ENTRIES };
      try {
        await unpackRelease(path, result, wanted.strip ?? 0, limits, signal);
      } catch (error) {
        signal.throwIfAborted();
        // What cannot be unpacked now can never be: the next try is to fetch it anew.
        await rm(downloads, { recursive: true, force: true });
        throw error;
      }
    }
    on({ step: `testing ${name}`, done: 0, unit: "steps" });
    const verdict = await tryOut(plan, result, files, context, signal);
    if (!verdict.accepted) {
      await rm(downloads, { recursive: true, force: true });
      return verdict;
    }
    await flushAll(result);
    const final = join(root, plan.folder);
    await rename(final, join(work, "refused")).catch(unlessMissing);
    await rename(result, final);
    for (const { file, size, sha256, pinned_by } of files) {
      if (pinned_by === "catalog") continue;
      await writePin(root, pinKey(plan.number, file), { size, sha256 });
      trial.log.warn(
        { file, sha256 },
        "the catalog has no digest of this file; the first download is what later ones are held to",
      );
    }
    await rm(downloads, { recursive: true, force: true });
    const path = join(final, programFile(engine));
    return { accepted: true, binary: { ...verdict.binary, path } };
  } finally {
    await removeFolder(work, trial.log);
  }
}

async function fetchFile(
  wanted: ReleasePlan["asset"]["files"][number],
  plan: ReleasePlan,
  downloads: string,
  { root, options }: Context,
  on: OnProgress,
  signal: AbortSignal,
): Promise<ReleaseFiles[number] & { path: string }> {
  const { file } = wanted;
  const pin = wanted.sha256 === undefined ? await readPin(root, pinKey(plan.number, file)) : null;
  const spec = {
    file,
    size: wanted.size ?? pin?.size ?? null,
    sha256: wanted.sha256 ?? pin?.sha256 ?? null,
    sources: [{ type: "https" as const, url: `${plan.url}${file}` }],
  };
  const { path, size, sha256 } = await options.artifacts.fetch(spec, downloads, on, signal);
  const pinnedBy = wanted.sha256 === undefined ? "first download" : "catalog";
  return { path, file, size, sha256, pinned_by: pinnedBy };
}

async function tryOut(
  plan: ReleasePlan,
  folder: string,
  files: ReleaseFiles,
  { engine, trial }: Context,
  signal: AbortSignal,
): Promise<Verdict> {
  const program = programFile(engine);
  const path = join(folder, program);
  await chmod(path, 0o755).catch(() => {});
  if (!(await isExecutableFile(path))) {
    return { accepted: false, reason: `the release holds no ${program}` };
  }
  const { accelerator } = plan.asset;
  const verdict = await accept(
    {
      path,
      origin: "release",
      receiptFile: join(folder, RECEIPT),
      builtAt: new Date().toISOString(),
      release: { variant: plan.variant, accelerator, files },
    },
    trial,
    signal,
  );
  if (!verdict.accepted || accelerator === "cpu") return verdict;
  // A release that cannot load its accelerator's library runs on the processor without a word.
  const devices = await listDevices(path, trial.env);
  signal.throwIfAborted();
  if (devices.length > 0) return verdict;
  return { accepted: false, reason: `it finds no device for ${accelerator}` };
}

/** Puts all files of a folder on the disk, so that a power cut after the rename finds them whole. */
async function flushAll(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    await syncFile(join(entry.parentPath, entry.name));
  }
}

function unlessMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
