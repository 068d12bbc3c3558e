import { type ConfigError, defaultPaths, explainConfig, problemText } from "../config/index.js";
import { nearest } from "../spelling/index.js";
import { checkAgainstMachine } from "./config-machine.js";
import { CliFailure, EXIT } from "./failure.js";
import type { Io } from "./io.js";
import { tableLines } from "./layout.js";
import { countText } from "./quantities.js";
import { type CommonOptions, loadSettings } from "./settings.js";

type ConfigOptions = CommonOptions & { json?: boolean };

/** `somnus config show [key]` */
export async function configShow(io: Io, options: ConfigOptions, args: string[]): Promise<number> {
  const all = explainConfig(await loadSettings(io, options));
  const [key] = args;
  const rows = key === undefined ? all : all.filter((row) => isWithin(row.key, key));
  if (key !== undefined && rows.length === 0) {
    const sections = new Set(all.map((row) => row.key.split(".")[0]!));
    const meant = nearest(key, [...sections, ...all.map((row) => row.key)]);
    throw new CliFailure(`There is no setting ${key} in force.`, {
      advice:
        meant === null
          ? "All that are: somnus config show. All that there are: docs/reference/configuration.md"
          : `Did you mean ${meant}?`,
    });
  }
  const { out } = io;
  if (options.json) {
    out.json(rows);
    return EXIT.ok;
  }
  const columns = [
    { title: "SETTING" },
    { title: "VALUE", flexible: true, paint: out.paint.bold },
    { title: "FROM", flexible: true, paint: out.paint.dim },
  ];
  const cells = rows.map((row) => [row.key, JSON.stringify(row.value), row.detail]);
  for (const line of tableLines(columns, cells, out.columns)) out.line(line);
  return EXIT.ok;
}

/** `somnus config check`: 1 when something is wrong. */
export async function configCheck(io: Io, options: ConfigOptions): Promise<number> {
  const { out } = io;
  try {
    const loaded = await loadSettings(io, options);
    const { file } = loaded;
    const { problems, warnings: more } = await checkAgainstMachine(loaded, io);
    const warnings = [...loaded.warnings, ...more];
    if (problems.length > 0) {
      if (options.json) out.json({ ok: false, file, problems, warnings });
      else for (const problem of problems) out.line(problemText(problem));
      return EXIT.failure;
    }
    if (options.json) out.json({ ok: true, file, problems: [], warnings });
    else {
      for (const warning of warnings) out.line(`${out.paint.yellow("warn")}  ${warning}`);
      const read = file ?? "There is no configuration file, and what the environment says";
      out.line(
        `${read} is right${warnings.length === 0 ? "" : `, with ${countText(warnings.length, "warning")}`}.`,
      );
    }
    return EXIT.ok;
  } catch (error) {
    if (!isConfigError(error)) throw error;
    if (options.json) {
      const file = error.problems.find((problem) => problem.file !== null)?.file ?? null;
      out.json({ ok: false, file, problems: error.problems, warnings: [] });
    } else for (const problem of error.problems) out.line(problemText(problem));
    return EXIT.failure;
  }
}

/** `somnus config path`: the file that was read, else the one that would be. */
export async function configPath(io: Io, options: ConfigOptions): Promise<number> {
  const usual = defaultPaths(io.env).config_file;
  // A file that is wrong has a path all the same.
  const file = await loadSettings(io, options).then(
    (loaded) => loaded.file,
    (error) => {
      if (!isConfigError(error)) throw error;
      const named = error.problems.find((problem) => problem.file !== null)?.file;
      if (named === undefined || named === null) throw error;
      return named;
    },
  );
  if (options.json) io.out.json({ path: file ?? usual, exists: file !== null });
  else {
    io.out.line(file ?? usual);
    if (file === null) io.err.line("It does not exist; the built-in values are in force.");
  }
  return EXIT.ok;
}

function isConfigError(error: unknown): error is ConfigError {
  return error instanceof Error && error.name === "ConfigError";
}

/** Whether `key` is `outer` or a setting of that section. */
function isWithin(key: string, outer: string): boolean {
  return key === outer || key.startsWith(`${outer}.`) || key.startsWith(`${outer}[`);
}
