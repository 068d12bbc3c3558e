import { basename } from "node:path";
import { cacheRoot, fromHome, joinFor, variable } from "../machine.js";
import type { ToolReader } from "../survey.js";
import { surveyHubCache } from "./hugging-face.js";
import { surveyFolders } from "./survey-folders.js";

/**
 * llama.cpp's own downloads: `LLAMA_CACHE` or `llama.cpp` in the user's cache folder. Builds up to
 * spring 2026 kept `<owner>_<repository>_<file>` there, side by side; newer ones use the hub's
 * layout, in `LLAMA_CACHE` where that is set (common/common.cpp, common/hf-cache.cpp).
 */
export const llamaCpp: ToolReader = {
  async folders(machine) {
    const named = variable(machine, "LLAMA_CACHE");
    const usual = joinFor(machine)(cacheRoot(machine), "llama.cpp");
    return named === null ? [usual] : [fromHome(machine, named), usual];
  },

  async survey(folder, signal) {
    const flat = await surveyFolders("llama.cpp", folder, signal, (path) => {
      if (path.includes("models--")) return null;
      return { name: repositoryOf(basename(path)), isExactName: false };
    });
    const hub = await surveyHubCache(folder, signal);
    return {
      shelves: [...flat.shelves, ...hub.shelves.map((s) => ({ ...s, tool: "llama.cpp" as const }))],
      foldersToConvert: hub.foldersToConvert,
      // Both looked through the same folder.
      problems: flat.problems,
    };
  },
};

/** The repository that a flat file name begins with: names of GGUF repositories usually end so. */
function repositoryOf(file: string): string {
  const found = /^([^_]+)_(.+?-gguf)_./i.exec(file);
  return found === null ? file.replace(/\.gguf$/i, "") : `${found[1]}/${found[2]}`;
}
