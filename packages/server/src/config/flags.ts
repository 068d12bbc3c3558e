import { nearest } from "../spelling/index.js";
import type { Overrides } from "./environment.js";
import { keyText } from "./key-path.js";
import { parseText } from "./parse-text.js";
import { readValue } from "./read-value.js";
import { KNOWN_KEYS, schemaOf } from "./settings.js";

/**
 * The settings that flags make: dotted keys with their values, as text or already of their type.
 * `undefined` counts as not given. `names` are the flags as they are typed, by dotted key.
 */
export function readFlags(
  flags: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, string>> = {},
): Overrides {
  const found: Overrides = { values: [], problems: [], warnings: [] };
  for (const [key, given] of Object.entries(flags)) {
    if (given === undefined) continue;
    const path = key.split(".");
    const source = Object.hasOwn(names, key) ? names[key]! : flagName(path);
    const schema = schemaOf(path);
    if (schema === undefined) {
      const meant = nearest(key, KNOWN_KEYS);
      found.problems.push({
        key: null,
        message: `There is no setting ${keyText(path).slice(0, 80)} for the flag ${source.slice(0, 80)}.`,
        suggestion: meant === null ? null : `Did you mean ${meant}?`,
      });
      continue;
    }
    const value = typeof given === "string" ? parseText(schema, given) : given;
    const read = readValue(schema, value, path, KNOWN_KEYS, (at) =>
      at.length === path.length ? source : `${source} (${keyText(at)})`,
    );
    for (const problem of read.problems) {
      const { message, suggestion } = problem;
      found.problems.push({ key: keyText(problem.path), message, suggestion });
    }
    if (read.withoutEffect.length > 0) {
      found.warnings.push(`${source} is accepted, but has no effect in this version.`);
    }
    if (read.value !== undefined) found.values.push({ path, value: read.value, source });
  }
  return found;
}

/** `limits.max_tokens_cap` is `--max-tokens-cap` unless the command line says otherwise. */
function flagName(path: readonly string[]): string {
  return `--${(path.at(-1) ?? "").replaceAll("_", "-")}`;
}
