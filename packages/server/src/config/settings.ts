import { keyText } from "./key-path.js";
import { ConfigSchema } from "./schema/index.js";
import type { SchemaNode } from "./schema/keywords.js";

/** One setting: a key that holds a value, not a table of further keys. */
export interface Setting {
  /** `server.port`; `models[].id` inside a list of tables. */
  readonly key: string;
  readonly path: readonly string[];
  /** With the effect of the tables around it. */
  readonly schema: SchemaNode;
  /** Its environment variable, `SOMNUS_SERVER_PORT`; null for what only a file can say. */
  readonly variable: string | null;
}

/** The schema as the loader walks it. */
export const ROOT = ConfigSchema as unknown as SchemaNode;

const VARIABLE_PREFIX = "SOMNUS_";

/** All settings, in the order of the schema. */
export const SETTINGS: readonly Setting[] = [...settingsBelow(ROOT, [], "", true)];

/** The keys of all settings without those in lists of tables, for suggestions. */
export const KNOWN_KEYS: readonly string[] = SETTINGS.filter(
  (setting) => !setting.key.includes("[]"),
).map((setting) => setting.key);

/**
 * The schema of a dotted key, `server.port`, or of a table, `engines.llama`, with the effect of the
 * tables around it; undefined if there is none.
 */
export function schemaOf(path: readonly string[]): SchemaNode | undefined {
  let node: SchemaNode = ROOT;
  for (const step of path) {
    if (node.properties === undefined || !Object.hasOwn(node.properties, step)) return undefined;
    node = withEffect(node.properties[step]!, node.effect);
  }
  return node;
}

function withEffect(schema: SchemaNode, outer: SchemaNode["effect"]): SchemaNode {
  return schema.effect === undefined && outer !== undefined ? { ...schema, effect: outer } : schema;
}

function* settingsBelow(
  node: SchemaNode,
  path: readonly string[],
  prefix: string,
  reachable: boolean,
): Generator<Setting> {
  for (const [name, property] of Object.entries(node.properties ?? {})) {
    const below = [...path, name];
    const key = prefix + keyText([name]);
    const schema = withEffect(property, node.effect);
    if (schema.properties !== undefined) {
      yield* settingsBelow(schema, below, `${key}.`, reachable);
      continue;
    }
    const isFlat = schema.type !== "object" && schema.items?.type !== "object";
    const variable = reachable && isFlat ? VARIABLE_PREFIX + below.join("_").toUpperCase() : null;
    yield { key, path: below, schema, variable };
    if (schema.items?.properties !== undefined) {
      yield* settingsBelow(schema.items, below, `${key}[].`, false);
    }
  }
}
