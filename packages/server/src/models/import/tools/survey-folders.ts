import { dirname } from "node:path";
import type { Shelf, Tool } from "../found.js";
import { emptySurvey, isGgufName, type Survey } from "../survey.js";
import { walkFiles } from "../walk.js";

/**
 * The GGUF files below a folder, one shelf for each folder that holds some.
 * @param nameOf what the tool calls the models of the folder that `file` is in; null to pass over it
 */
export async function surveyFolders(
  tool: Tool,
  folder: string,
  signal: AbortSignal,
  nameOf: (file: string) => { name: string; isExactName: boolean } | null,
): Promise<Survey> {
  const survey = emptySurvey();
  const walked = await walkFiles(folder, isGgufName, signal);
  survey.problems.push(...walked.problems);
  const shelves = new Map<string, Shelf>();
  for (const path of walked.files) {
    const named = nameOf(path);
    if (named === null) continue;
    const key = `${dirname(path)}\0${named.name}`;
    const shelf = shelves.get(key) ?? { tool, ...named, manifest: null, files: [] };
    shelf.files.push({ path, claimedSha256: null });
    shelves.set(key, shelf);
  }
  survey.shelves.push(...shelves.values());
  return survey;
}
