import { nearest } from "../spelling/index.js";
import { parseText } from "./parse-text.js";
import { readValue } from "./read-value.js";
import { KNOWN_KEYS, SETTINGS } from "./settings.js";

/**
 * Names of the contracts' own servers for settings of this one, after the `SOMNUS_` name in the
 * order in which they count.
 */
export const FOREIGN_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  "server.host": ["LOCAL_LLM_HOST"],
  "server.port": ["HYPNOS_PORT", "LOCAL_LLM_PORT"],
  "server.api_keys": ["HYPNOS_API_KEYS"],
  "engines.llama.path": ["LOCAL_LLM_SERVER_BIN"],
};

/** Variables of this product that are no settings. */
const OTHER_VARIABLES = ["SOMNUS_API_KEY", "SOMNUS_CONFIG", "SOMNUS_PROCESS_TOKEN", "SOMNUS_URL"];
const OTHER_PREFIXES = ["SOMNUS_TEST_", "SOMNUS_SETUP_"];

/** A value that a variable or a flag gives to a setting. */
export interface OverridingValue {
  readonly path: readonly string[];
  readonly value: unknown;
  /** The variable, or the flag as it is typed: `SOMNUS_SERVER_PORT`, `--port`. */
  readonly source: string;
}

export interface Overrides {
  readonly values: OverridingValue[];
  readonly problems: { key: string | null; message: string; suggestion: string | null }[];
  readonly warnings: string[];
}

/** The settings that the environment makes. An empty variable counts as not set. */
export function readEnvironment(env: NodeJS.ProcessEnv): Overrides {
  const found: Overrides = { values: [], problems: [], warnings: [] };
  const known = new Set(OTHER_VARIABLES);

  for (const { key, path, schema, variable } of SETTINGS) {
    if (variable === null) continue;
    known.add(variable);
    const source = [variable, ...(FOREIGN_VARIABLES[key] ?? [])].find((name) => isSet(env[name]));
    if (source === undefined) continue;
    const given = parseText(schema, env[source]!);
    const read = readValue(schema, given, path, KNOWN_KEYS, () => source);
    for (const { message, suggestion } of read.problems) {
      found.problems.push({ key, message, suggestion });
    }
    if (read.withoutEffect.length > 0) {
      found.warnings.push(`${source} is accepted, but has no effect in this version.`);
    }
    if (read.value !== undefined) found.values.push({ path, value: read.value, source });
  }

  for (const name of Object.keys(env).sort()) {
    const isOurs = name.startsWith("SOMNUS_") && isSet(env[name]);
    if (!isOurs || known.has(name) || OTHER_PREFIXES.some((prefix) => name.startsWith(prefix))) {
      continue;
    }
    const meant = nearest(name, known);
    found.problems.push({
      key: null,
      message: `There is no setting for the environment variable ${name.slice(0, 80)}.`,
      suggestion: meant === null ? null : `Did you mean ${meant}?`,
    });
  }

  if (isSet(env.LOCAL_LLM_SERVER_PORT)) {
    found.warnings.push(
      "LOCAL_LLM_SERVER_PORT has no effect: engines are reached over a private socket. The server's own port is SOMNUS_SERVER_PORT, HYPNOS_PORT or LOCAL_LLM_PORT.",
    );
  }
  return found;
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}
