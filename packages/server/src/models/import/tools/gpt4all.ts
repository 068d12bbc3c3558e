import { basename } from "node:path";
import { cacheRoot, dataRoot, joinFor } from "../machine.js";
import { stemOfFile } from "../names.js";
import type { ToolReader } from "../survey.js";
import { surveyFolders } from "./survey-folders.js";

/** GPT4All: GGUF files side by side in `nomic.ai/GPT4All` of the data folder (local on Windows). */
export const gpt4all: ToolReader = {
  async folders(machine) {
    const join = joinFor(machine);
    const root = machine.platform === "win32" ? cacheRoot(machine) : dataRoot(machine);
    return [join(root, "nomic.ai", "GPT4All")];
  },

  survey: (folder, signal) =>
    surveyFolders("gpt4all", folder, signal, (path) => ({
      name: stemOfFile(basename(path)),
      isExactName: false,
    })),
};
