import { readdir, readlink, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { fromHome, joinFor, type Machine, variable } from "../machine.js";
import { readSmallFile } from "../small-file.js";
import { emptySurvey, isGgufName, type Survey, type ToolReader } from "../survey.js";
import { folderProblem, walkFiles } from "../walk.js";

const REPOSITORY = /^models--(.+)$/;

/**
 * The cache of the Hugging Face hub's libraries: `models--<owner>--<name>/snapshots/<commit>/...`,
 * symbolic links into `blobs/`, where a large file's name is its SHA-256; `refs/main` says which
 * commit is current (the hub's "Local cache" page). llama.cpp keeps the same (common/hf-cache.cpp).
 */
export const huggingFace: ToolReader = {
  async folders(machine) {
    return [hubCache(machine)];
  },
  survey: surveyHubCache,
};

/** The hub's cache folder by its variables, in the order the libraries heed them. */
export function hubCache(machine: Machine): string {
  const join = joinFor(machine);
  for (const name of ["HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"]) {
    const named = variable(machine, name);
    if (named !== null) return fromHome(machine, named);
  }
  const home = variable(machine, "HF_HOME");
  if (home !== null) return join(fromHome(machine, home), "hub");
  const cache = variable(machine, "XDG_CACHE_HOME") ?? join(machine.home, ".cache");
  return join(cache, "huggingface", "hub");
}

/** The repositories of a folder in the hub cache's layout; others in it are passed over. */
export async function surveyHubCache(folder: string, signal: AbortSignal): Promise<Survey> {
  const survey = emptySurvey();
  const names = await readdir(folder).catch((error: unknown) => {
    const problem = folderProblem(error);
    if (problem !== null) survey.problems.push({ path: folder, problem });
    return [];
  });
  for (const name of names.sort()) {
    signal.throwIfAborted();
    const repository = REPOSITORY.exec(name)?.[1]?.replaceAll("--", "/");
    if (repository !== undefined) {
      await surveyRepository(join(folder, name), repository, survey, signal);
    }
  }
  return survey;
}

async function surveyRepository(
  folder: string,
  name: string,
  survey: Survey,
  signal: AbortSignal,
): Promise<void> {
  const files = new Map<string, { path: string; claimedSha256: string | null }>();
  for (const [index, snapshot] of (await snapshotsOf(folder)).entries()) {
    const wanted = (file: string) =>
      isGgufName(file) || file === "model.safetensors" || file === "modules.json";
    const walked = await walkFiles(snapshot, wanted, signal);
    survey.problems.push(...walked.problems);
    for (const path of walked.files) {
      const inside = relative(snapshot, path);
      // An older commit only adds what the current one does not have.
      if (!isGgufName(path) || files.has(inside)) continue;
      files.set(inside, { path, claimedSha256: await shaOfLink(path) });
    }
    const names = new Set(walked.files.map((path) => relative(snapshot, path)));
    const isWhole = names.has("model.safetensors") && names.has("modules.json");
    if (index === 0 && isWhole) survey.foldersToConvert.push({ name, folder: snapshot });
  }
  if (files.size === 0) return;
  survey.shelves.push({
    tool: "hugging-face",
    name,
    isExactName: false,
    manifest: null,
    files: [...files.values()],
  });
}

/** The folders of a repository's commits, the current one first, then the newest. */
async function snapshotsOf(folder: string): Promise<string[]> {
  const root = join(folder, "snapshots");
  const names = await readdir(root).catch(() => []);
  const current = await readSmallFile(join(folder, "refs", "main")).then(
    (text) => text.trim(),
    () => "",
  );
  const dated = await Promise.all(
    names.map(async (name) => {
      const path = join(root, name);
      const found = await stat(path).catch(() => null);
      const at = name === current ? Number.POSITIVE_INFINITY : (found?.mtimeMs ?? 0);
      return { path, at, isFolder: found?.isDirectory() === true };
    }),
  );
  return dated
    .filter((one) => one.isFolder)
    .sort((a, b) => b.at - a.at)
    .map(({ path }) => path);
}

/** The SHA-256 that a snapshot's link into `blobs/` bears; null for a small file or a copy. */
async function shaOfLink(path: string): Promise<string | null> {
  const target = await readlink(path).catch(() => null);
  if (target === null || basename(dirname(target)) !== "blobs") return null;
  return /^[0-9a-f]{64}$/.test(basename(target)) ? basename(target) : null;
}
