import type { LoadedConfig } from "../config/index.js";
import { usageError } from "./failure.js";
import type { Io } from "./io.js";

/** Options that every verb has. */
export interface CommonOptions {
  config?: string;
  set?: string[];
  verbose?: boolean;
}

/** Settings that flags make, by dotted key, with the flags as they are typed. */
export interface FlagSettings {
  values: Record<string, unknown>;
  names: Record<string, string>;
}

/** Variables of the command line that are no settings of the server. */
const CLIENT_VARIABLES = ["SOMNUS_URL", "SOMNUS_API_KEY"];

/** `--set key=value`, as often as it was given. @throws CliFailure when one has no `=` */
export function readSetFlags(given: readonly string[] = []): FlagSettings {
  const flags: FlagSettings = { values: {}, names: {} };
  for (const text of given) {
    const at = text.indexOf("=");
    if (at < 1) {
      throw usageError(
        `--set ${text} has no value.`,
        "Write it as --set section.key=value, for example --set server.port=1235",
      );
    }
    const key = text.slice(0, at).trim();
    flags.values[key] = text.slice(at + 1);
    flags.names[key] = `--set ${key}`;
  }
  return flags;
}

/**
 * The configuration in force, with what `--set` and the flags of a verb say. A flag of its own
 * wins over `--set`.
 * @throws ConfigError with all that is wrong; CliFailure on a malformed `--set`
 */
export async function loadSettings(
  io: Io,
  options: CommonOptions,
  flags: FlagSettings = { values: {}, names: {} },
): Promise<LoadedConfig> {
  const set = readSetFlags(options.set);
  const { loadConfig } = await import("../config/index.js");
  return loadConfig({
    file: options.config,
    env: serverEnvironment(io.env),
    flags: { ...set.values, ...flags.values },
    flagNames: { ...set.names, ...flags.names },
    cwd: io.cwd,
  });
}

/** The environment without the variables that only the command line reads. */
export function serverEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const rest = { ...env };
  for (const name of CLIENT_VARIABLES) delete rest[name];
  return rest;
}
