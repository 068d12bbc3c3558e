import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { Config, ConfigProblem, LoadedConfig } from "../config/index.js";
import { probe } from "../engines/provisioning/index.js";
import { findInCatalog, openLibrary, readCatalog } from "../models/index.js";
import type { Io } from "./io.js";
import { serverEnvironment } from "./settings.js";

/** What a configuration that is right in itself lacks on this machine. */
export interface MachineFindings {
  problems: ConfigProblem[];
  warnings: string[];
}

/** Looks whether the engine program can run and whether aliases lead to a model that there is. */
export async function checkAgainstMachine(
  { config, file }: LoadedConfig,
  io: Io,
): Promise<MachineFindings> {
  const why = await whyNoEngine(config, serverEnvironment(io.env));
  const warnings = await aliasesToNowhere(config);
  if (why === null) return { problems: [], warnings };
  const message = `engines.llama.path is ${config.engines.llama.path}, which cannot be used: ${why}.`;
  const suggestion = "Correct it, or remove it and Somnus finds one itself.";
  const nowhere = { file, line: null, column: null, key: "engines.llama.path" };
  return { problems: [{ ...nowhere, message, suggestion }], warnings };
}

/** Why the configured program cannot be used; null when it can, or none is configured. */
async function whyNoEngine(config: Config, env: NodeJS.ProcessEnv): Promise<string | null> {
  const { path } = config.engines.llama;
  if (path === undefined) return null;
  const isExecutable = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isExecutable) return "there is no executable file";
  const said = await probe(path, [], env, new AbortController().signal);
  return said.usable ? null : said.reason;
}

/** With `[[models]]` blocks the configuration itself requires a target; without, anything may be installed later. */
async function aliasesToNowhere({ aliases, models, pool }: Config): Promise<string[]> {
  const targets = Object.entries(aliases);
  if (targets.length === 0 || models.length > 0) return [];
  const catalog = await readCatalog();
  const library = new Set((await openLibrary(pool.models_dir).list()).map(({ id }) => id));
  return targets
    .filter(([, target]) => findInCatalog(catalog, target) === null && !library.has(target))
    .map(
      ([name, target]) =>
        `The alias "${name}" leads to "${target}", which is neither installed nor in the catalog.`,
    );
}
