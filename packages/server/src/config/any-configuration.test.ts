import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { stringify } from "smol-toml";
import { expect, test } from "vitest";
import { folderWith } from "./__fixtures__/config-folder.js";
import { ConfigError } from "./config-error.js";
import { explainConfig } from "./explain-config.js";
import { loadConfig } from "./load-config.js";
import { SETTINGS } from "./settings.js";

const knownNames = [...new Set(SETTINGS.flatMap(({ path }) => path))];
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...knownNames) },
  { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty", ""),
  },
);
const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    "auto",
    "true",
    "1",
    "~/x",
    "*",
    "gpt-*",
    "0.0.0.0",
    "\u0000",
    "a/../b",
    "ggml_llama",
  ),
);
const { value, table } = fc.letrec<{ value: unknown; table: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.date({ noInvalidDate: true, min: new Date("1000-01-01"), max: new Date("9000-01-01") }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(tie("table"), { maxLength: 3 }),
    tie("table"),
  ),
  table: fc.dictionary(name, tie("value"), { maxKeys: 5 }) as fc.Arbitrary<Record<string, unknown>>,
}));
const section = fc.constantFrom(
  "server",
  "limits",
  "pool",
  "aliases",
  "models",
  "engines",
  "hardware",
  "paths",
);
const document = fc.oneof(
  table,
  fc.dictionary(section, fc.oneof(table, fc.array(table, { maxLength: 3 }))),
);

const variable = fc.oneof(
  fc.constantFrom(...SETTINGS.flatMap(({ variable }) => (variable === null ? [] : [variable]))),
  fc.constantFrom(
    "HYPNOS_PORT",
    "HYPNOS_API_KEYS",
    "LOCAL_LLM_HOST",
    "SOMNUS_",
    "SOMNUS_X",
    "HOME",
    "XDG_DATA_HOME",
  ),
);
const flag = fc.oneof(
  fc.constantFrom(...SETTINGS.map(({ key }) => key)),
  fc.constantFrom("", ".", "__proto__", "server", "server.__proto__.x", "models", "aliases"),
);

test("whatever is configured, the answer is a configuration or a ConfigError", async () => {
  const cwd = await folderWith({});
  const outcomes = { loaded: 0, refused: 0 };
  const attempt = async (
    source: string,
    env: NodeJS.ProcessEnv,
    flags: Record<string, unknown>,
  ) => {
    await writeFile(join(cwd, "somnus.toml"), source);
    try {
      const loaded = await loadConfig({ env, flags, cwd });
      JSON.stringify(explainConfig(loaded));
      outcomes.loaded += 1;
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      expect((error as ConfigError).problems.length).toBeGreaterThan(0);
      outcomes.refused += 1;
    }
  };
  const toml = fc.oneof(
    document.map((content) => {
      try {
        return stringify(content);
      } catch {
        return ""; // A list of mixed tables and values, which TOML's writer does not take.
      }
    }),
    fc.string({
      unit: fc.constantFrom(
        "[",
        "]",
        "{",
        "}",
        "=",
        '"',
        "'",
        "\n",
        "#",
        ".",
        "server",
        "port",
        " 1",
      ),
    }),
    fc.constant(""),
  );
  const variables = fc.dictionary(variable, text, { maxKeys: 2 });
  const flags = fc.dictionary(flag, fc.oneof(value, fc.constantFrom(undefined, null, Number.NaN)), {
    maxKeys: 2,
  });
  await fc.assert(
    fc.asyncProperty(
      toml,
      fc.oneof(variables, fc.constant({})),
      fc.oneof(flags, fc.constant({})),
      attempt,
    ),
    { numRuns: 600 },
  );
  expect(outcomes.loaded).toBeGreaterThan(50);
  expect(outcomes.refused).toBeGreaterThan(50);
});
