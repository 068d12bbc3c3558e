import { type KeyPath, keyText } from "./key-path.js";
import type { LoadedConfig, Origin } from "./load-config.js";
import { ownProperty } from "./read-value.js";
import type { SchemaNode } from "./schema/keywords.js";
import { ROOT } from "./settings.js";

/** One setting in force, as `config show` prints it; JSON-able. */
export interface ConfigRow extends Origin {
  readonly key: string;
  /** The value in force; a secret is masked. */
  readonly value: unknown;
}

const MASK = "********";

/** Every setting in force with its origin, in the order of the reference; secrets are masked. */
export function explainConfig(loaded: LoadedConfig): ConfigRow[] {
  const rows: ConfigRow[] = [];
  const visit = (node: SchemaNode, value: unknown, path: KeyPath, isSecret: boolean): void => {
    const origin = loaded.origins.get(keyText(path));
    const secret = isSecret || node.secret === true;
    if (origin !== undefined) {
      rows.push({ key: keyText(path), value: secret ? masked(value) : value, ...origin });
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        visit(node.items ?? {}, item, [...path, index], secret);
      }
    } else if (typeof value === "object" && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        visit(ownProperty(node, key) ?? {}, item, [...path, key], secret);
      }
    }
  };
  visit(ROOT, loaded.config, [], false);
  return rows;
}

function masked(value: unknown): unknown {
  return Array.isArray(value) ? value.map(() => MASK) : MASK;
}
