import { expect, test } from "vitest";
import { loadToml, loadWithout } from "./__fixtures__/config-folder.js";
import { DEFAULTS, KEY_DEFAULTS, MODEL_DEFAULTS } from "./defaults.js";
import { keyText } from "./key-path.js";
import { readValue } from "./read-value.js";
import { KNOWN_KEYS, SETTINGS } from "./settings.js";

test("without any source the defaults and the user's folders are in force", async () => {
  const { config, file, warnings } = await loadWithout({ env: { HOME: "/home/ada" } });
  expect({ ...config, aliases: { ...config.aliases } }).toEqual({
    ...DEFAULTS,
    pool: { ...DEFAULTS.pool, models_dir: "/home/ada/.local/share/somnus/models" },
    paths: { cache_dir: "/home/ada/.cache/somnus", data_dir: "/home/ada/.local/share/somnus" },
  });
  expect(file).toBeNull();
  expect(warnings).toEqual([]);
});

test("blocks of lists get their defaults", async () => {
  const { config } = await loadToml('[[models]]\nid = "a"\n[[server.keys]]\nkey = "k"');
  expect(config.models).toEqual([{ id: "a", ...MODEL_DEFAULTS }]);
  expect(config.server.keys).toEqual([{ key: "k", ...KEY_DEFAULTS }]);
});

test.each(SETTINGS.filter(({ schema }) => schema.default !== undefined))(
  "the default of $key is a valid value of it",
  ({ schema, path }) => {
    const { effect: _, ...checked } = schema;
    expect(readValue(checked, schema.default, path, KNOWN_KEYS).problems).toEqual([]);
  },
);

test("every default belongs to a setting", () => {
  const keys = new Set(SETTINGS.map(({ key }) => key));
  const leaves = (value: unknown, path: string[]): string[] =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length > 0
      ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]))
      : [keyText(path)];
  expect(leaves(DEFAULTS, []).filter((key) => !keys.has(key))).toEqual([]);
  const blocks = { "models[]": MODEL_DEFAULTS, "server.keys[]": KEY_DEFAULTS };
  for (const [prefix, defaults] of Object.entries(blocks)) {
    expect(Object.keys(defaults).filter((key) => !keys.has(`${prefix}.${key}`))).toEqual([]);
  }
});

test("the configuration is frozen all the way down", async () => {
  const { config } = await loadToml(
    '[aliases]\na = "b"\n[[models]]\nid = "b"\n[server]\nhost = ["::1"]',
  );
  const thawed = (value: unknown): boolean =>
    typeof value === "object" &&
    value !== null &&
    (!Object.isFrozen(value) || Object.values(value).some(thawed));
  expect(thawed(config)).toBe(false);
  expect(Object.isFrozen(DEFAULTS.server.api_keys)).toBe(false);
});
