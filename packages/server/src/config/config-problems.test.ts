import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith, loadToml, loadWithout, problemsOf } from "./__fixtures__/config-folder.js";
import { ConfigError } from "./config-error.js";
import { loadConfig } from "./load-config.js";

const problems = (toml: string) => problemsOf(loadToml(toml));

test("everything that is wrong is said at once, with its place", async () => {
  const toml = [
    "[server]",
    "prot = 1",
    'port = "9999"',
    'log_level = "inof"',
    "[limits]",
    "max_tokens_cap = 0",
    "[sever]",
    "port = 1",
    "[[models]]",
    'id = "a b"',
    "slots = 1.5",
  ].join("\n");
  expect(
    await problemsOf(
      loadToml(toml, { env: { SOMNUS_POOL_AUTOLOAD: "maybe" }, flags: { "server.port": "x" } }),
    ),
  ).toEqual([
    "2:1 There is no setting server.prot. Did you mean server.port?",
    '3:1 server.port must be a whole number, not "9999".',
    '4:1 server.log_level must be "silent", "fatal", "error", "warn", "info", "debug" or "trace", not "inof". Did you mean "info"?',
    "6:1 limits.max_tokens_cap must be at least 1, not 0.",
    "7:2 There is no setting sever. Did you mean server?",
    '10:1 models[0].id must start with a letter or digit and hold at most 128 letters, digits and . _ : / -; not "a b".',
    "11:1 models[0].slots must be a whole number, not 1.5.",
    'SOMNUS_POOL_AUTOLOAD must be true or false, not "maybe".',
    '--port must be a whole number, not "x".',
  ]);
});

test("the message prints as compilers do, and carries its parts", async () => {
  const cwd = await folderWith({ "my.toml": "[server]\n  prot = 1\n  host = 1" });
  const error = await loadConfig({ file: "my.toml", env: {}, flags: {}, cwd }).catch(
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(ConfigError);
  const file = join(cwd, "my.toml");
  expect(error.message).toBe(
    `The configuration has 2 problems:\n  ${file}:2:3: There is no setting server.prot. Did you mean server.port?\n  ${file}:3:3: server.host must be a string or a list of strings, not 1.`,
  );
  expect(error.problems[0]).toEqual({
    file,
    line: 2,
    column: 3,
    key: "server.prot",
    message: "There is no setting server.prot.",
    suggestion: "Did you mean server.port?",
  });
});

test("a key that belongs to another table is shown there", async () => {
  expect(await problems("[server]\nmax_tokens_cap = 1")).toEqual([
    "2:1 There is no setting server.max_tokens_cap. Did you mean limits.max_tokens_cap?",
  ]);
  expect(await problems("port = 1")).toEqual([
    "1:1 There is no setting port. Did you mean server.port?",
  ]);
  expect(await problems("[server]\nmax_tokens_capp = 1")).toEqual([
    "2:1 There is no setting server.max_tokens_capp. Did you mean limits.max_tokens_cap?",
  ]);
  expect(await problems("[server]\nzzz = 1")).toEqual(["2:1 There is no setting server.zzz."]);
});

test("settings of the pool under [models] are shown the way", async () => {
  expect(await problems("[models]\nautoload = false")).toEqual([
    "1:2 models must be a list of tables, not a table. Write [[models]] for a model; what holds for all models is in [pool].",
  ]);
});

test("a mistake in TOML has its line and column, and no line of the file is repeated", async () => {
  const found = await problems('[server]\napi_keys = ["sk-secret"]\nport = \n');
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(/^3:8 This is not TOML: /);
  expect(found[0]).not.toContain("secret");
  expect((await problems('a = 1\na = 2\napi_keys = "sk-secret"'))[0]).toMatch(
    /^2:\d+ This is not TOML: /,
  );
});

test.each([
  ["server.port = 99999", "must be from 0 to 65535, not 99999"],
  ["server.port = 1.5", "must be a whole number, not 1.5"],
  ["server.drain_secs = nan", "must be a number, not NaN"],
  ["server.drain_secs = inf", "must be a number, not Infinity"],
  ["limits.request_timeout_secs = 0", "must be more than 0 and at most 2147483, not 0"],
  ["server.host = []", "must not be empty"],
  ['server.host = ""', "must not be empty"],
  ['server.host = "a b"', 'must be an IP address or a host name; not "a b"'],
  ["server.host = [1]", "server.host[0] must be a string, not 1"],
  ["server.drain_secs = 2020-01-01", "must be a number, not a date"],
  ["server = 1", "server must be a table, not 1"],
  ["server = 2020-01-01", "server must be a table, not a date"],
  ["config_version = 2", "config_version must be 1, not 2"],
  ["models = [1]", "models[0] must be a table, not 1"],
  ['server.keys = [{ key = "k", label = "a\\nb" }]', "must be at most 64 characters, none of them"],
  ["[[models]]", "models[0] needs id"],
  [
    'models = [{ id = "a", gpu_layers = "all" }]',
    'gpu_layers must be "auto" or a whole number, not "all"',
  ],
  ['models = [{ id = "a", gpu_layers = -1 }]', "gpu_layers must be from 0 to 10000, not -1"],
  ['server.allowed_origins = ["*"]', "must be an origin such as"],
  ['server.allowed_origins = ["https://a.org/"]', "must be an origin such as"],
  ['paths.data_dir = "a\\u0000b"', "must not contain a NUL character"],
  ["[aliases]\na = { b = 1 }", "aliases.a must be a string, not a table"],
  ["limits.default_max_tokens = 9000", "must not be more than limits.max_tokens_cap (8192)"],
])("%s: %s", async (toml, message) => {
  expect((await problems(toml)).join("\n")).toContain(message);
});

test.each([
  "[server.tls]\ncert_path = 'a'",
  "[server]\ntls = true",
  "[[server.keys]]\nkey = 'k'\nrequests_per_minute = 5",
  "[[server.keys]]\nkey = 'k'\nmax_concurrent = 5",
  "[[server.keys]]\nkey = 'k'\ntokens_per_day = 5",
])("what would only seem to protect is refused: %j", async (toml) => {
  expect((await problems(toml)).join("\n")).toMatch(/is not supported yet; take it out\.$/);
});

test("nor can it come in by the environment or by a flag", async () => {
  const env = { SOMNUS_SERVER_TLS_CERT_PATH: "/x" };
  expect(await problemsOf(loadWithout({ env }))).toEqual([
    "SOMNUS_SERVER_TLS_CERT_PATH is not supported yet; take it out.",
  ]);
  expect(await problemsOf(loadWithout({ flags: { "server.tls.key_path": "/x" } }))).toEqual([
    "--key-path is not supported yet; take it out.",
  ]);
});

test("names of JavaScript's own are keys like any other", async () => {
  const found = await problems(
    '__proto__ = { polluted = 1 }\nconstructor = 1\n[server.__proto__]\nport = 1\n[aliases]\n"__proto__" = "m"\n[[models]]\nid = "m"\n__proto__ = { enabled = false }',
  );
  expect(found).toEqual([
    "1:1 There is no setting __proto__.",
    "2:1 There is no setting constructor.",
    "3:9 There is no setting server.__proto__.",
    "9:1 There is no setting models[0].__proto__.",
  ]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

test("an alias may be called constructor, and no other name of JavaScript's is one", async () => {
  const { config } = await loadToml('[aliases]\nconstructor = "m"');
  expect(config.aliases.constructor).toBe("m");
  expect(config.aliases.toString).toBeUndefined();
  expect((await loadWithout()).config.aliases.constructor).toBeUndefined();
});

test("a flag without a setting is a problem", async () => {
  expect(await problemsOf(loadWithout({ flags: { "server.prot": 1, "__proto__.x": 1 } }))).toEqual([
    "There is no setting server.prot for the flag --prot. Did you mean server.port?",
    "There is no setting __proto__.x for the flag --x.",
  ]);
});
