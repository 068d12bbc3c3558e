import { relative, sep } from "node:path";
import { dataRoot, fromHome, joinFor, type Machine, variable } from "../machine.js";
import { field, readSmallFile, readSmallJson } from "../small-file.js";
import type { ToolReader } from "../survey.js";
import { surveyFolders } from "./survey-folders.js";

/**
 * LM Studio: `<models>/<publisher>/<model>/*.gguf`. Its home is what `~/.lmstudio-home-pointer`
 * says, else `~/.cache/lm-studio` (older) or `~/.lmstudio`; `downloadsFolder` in the home's
 * `settings.json` (older: in the application's data folder) moves the models elsewhere
 * (findLMStudioHome of lmstudio.js, modelsFolder.ts and importCmd.ts of lms).
 */
export const lmStudio: ToolReader = {
  async folders(machine) {
    const join = joinFor(machine);
    const homes = await homesOf(machine);
    const settings = [
      ...homes.map((home) => join(home, "settings.json")),
      join(applicationData(machine), "LM Studio", "settings.json"),
    ];
    const named = await Promise.all(settings.map((path) => downloadsFolder(machine, path)));
    return [
      ...named.filter((folder) => folder !== null),
      ...homes.map((home) => join(home, "models")),
    ];
  },

  survey: (folder, signal) =>
    surveyFolders("lm-studio", folder, signal, (path) => {
      const steps = relative(folder, path).split(sep).slice(0, 2);
      return { name: steps.join("/"), isExactName: false };
    }),
};

async function homesOf(machine: Machine): Promise<string[]> {
  const join = joinFor(machine);
  const pointed = await readSmallFile(join(machine.home, ".lmstudio-home-pointer")).then(
    (text) => text.trim(),
    () => "",
  );
  const usual = [join(machine.home, ".lmstudio"), join(machine.home, ".cache", "lm-studio")];
  return pointed === "" ? usual : [fromHome(machine, pointed), ...usual];
}

async function downloadsFolder(machine: Machine, settings: string): Promise<string | null> {
  const value = await readSmallJson(settings).catch(() => null);
  const folder = field(value, "downloadsFolder");
  return typeof folder === "string" && folder !== "" ? fromHome(machine, folder) : null;
}

/** Electron's `appData` folder. */
function applicationData(machine: Machine): string {
  if (machine.platform === "win32" || machine.platform === "darwin") return dataRoot(machine);
  return variable(machine, "XDG_CONFIG_HOME") ?? joinFor(machine)(machine.home, ".config");
}
