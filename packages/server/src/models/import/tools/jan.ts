import { basename, dirname, relative, sep } from "node:path";
import { dataRoot, joinFor } from "../machine.js";
import type { ToolReader } from "../survey.js";
import { surveyFolders } from "./survey-folders.js";

/** Names that every model's files have; others come from releases before 0.6. */
const USUAL_NAMES = ["model.gguf", "mmproj.gguf"];

/**
 * Jan: `<data>/llamacpp/models/<id>/model.gguf`, with `mmproj.gguf` beside it, where the id may have
 * several steps (its llamacpp extension); releases before 0.6 kept `~/jan/models/<id>/*.gguf`.
 */
export const jan: ToolReader = {
  async folders(machine) {
    const join = joinFor(machine);
    return [
      join(dataRoot(machine), "Jan", "data", "llamacpp", "models"),
      join(machine.home, "jan", "models"),
    ];
  },

  survey: (folder, signal) =>
    surveyFolders("jan", folder, signal, (path) => {
      const name = relative(folder, dirname(path)).split(sep).join("/");
      return name === "" ? null : { name, isExactName: USUAL_NAMES.includes(basename(path)) };
    }),
};
