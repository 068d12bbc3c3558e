import { join } from "node:path";
import { expect, test } from "vitest";
import { loadToml, loadWithout, problemsOf } from "./__fixtures__/config-folder.js";

const toml = "\n[server]\nport = 1\n[limits]\nmax_tokens_cap = 100\ndefault_max_tokens = 10\n";

test("flags over environment over file over defaults, each with its origin", async () => {
  const env = { SOMNUS_SERVER_PORT: "2", SOMNUS_LIMITS_MAX_TOKENS_CAP: "200" };
  const { config, origins } = await loadToml(toml, { env, flags: { "server.port": "3" } });
  expect(config.server.port).toBe(3);
  expect(config.limits.max_tokens_cap).toBe(200);
  expect(config.limits.default_max_tokens).toBe(10);
  expect(origins.get("server.port")).toEqual({ from: "flag", detail: "--port" });
  expect(origins.get("limits.max_tokens_cap")).toEqual({
    from: "environment",
    detail: "SOMNUS_LIMITS_MAX_TOKENS_CAP",
  });
  expect(origins.get("limits.default_max_tokens")).toEqual({
    from: "file",
    detail: "somnus.toml:6",
  });
  expect(origins.get("server.drain_secs")).toEqual({ from: "default", detail: "built in" });
});

test("the names of the contracts count after ours, in their order", async () => {
  const all = { SOMNUS_SERVER_PORT: "1", HYPNOS_PORT: "2", LOCAL_LLM_PORT: "3" };
  const port = async (env: NodeJS.ProcessEnv) => (await loadWithout({ env })).config.server.port;
  expect(await port(all)).toBe(1);
  expect(await port({ ...all, SOMNUS_SERVER_PORT: "" })).toBe(2);
  expect(await port({ LOCAL_LLM_PORT: "3" })).toBe(3);

  const { config, origins } = await loadWithout({
    env: { HYPNOS_API_KEYS: "a, b", LOCAL_LLM_SERVER_BIN: "/bin/engine", LOCAL_LLM_HOST: "::1" },
  });
  expect(config.server.api_keys).toEqual(["a", "b"]);
  expect(config.server.host).toBe("::1");
  expect(config.engines.llama.path).toBe("/bin/engine");
  expect(origins.get("server.api_keys")).toEqual({
    from: "environment",
    detail: "HYPNOS_API_KEYS",
  });
});

test("flags may come typed, undefined ones count as not given, and their names can be told", async () => {
  const { config, origins } = await loadWithout({
    flags: {
      "pool.autoload": false,
      "server.port": 7,
      "server.host": undefined,
      "engines.llama.threads": "3",
      models: [{ id: "a", slots: 2 }],
    },
    flagNames: { "engines.llama.threads": "--engine-threads" },
  });
  expect(config.pool.autoload).toBe(false);
  expect(config.server.port).toBe(7);
  expect(config.models[0]?.slots).toBe(2);
  expect(origins.get("engines.llama.threads")).toEqual({
    from: "flag",
    detail: "--engine-threads",
  });
  expect(origins.get("models[0].slots")).toEqual({ from: "flag", detail: "--models" });
  expect(origins.get("models[0].enabled")?.from).toBe("default");
});

test("a wrong value is reported also where a stronger source has a right one", async () => {
  const loading = loadToml('[server]\nport = "x"', { flags: { "server.port": 1 } });
  expect(await problemsOf(loading)).toEqual(['2:1 server.port must be a whole number, not "x".']);
});

test("paths count from the file's folder or from the current one, and ~/ is home", async () => {
  const { config, folder } = await loadToml(
    '[paths]\ndata_dir = "data"\ncache_dir = "~/c"\n[[models]]\nid = "a"\nweights_path = "~/w.gguf"\naux_path = "p.gguf"',
    { env: { SOMNUS_ENGINES_LLAMA_PATH: "bin/llama-server" } },
  );
  expect(config.paths).toEqual({ data_dir: join(folder, "data"), cache_dir: "/home/ada/c" });
  expect(config.pool.models_dir).toBe(join(folder, "data", "models"));
  expect(config.engines.llama.path).toBe(join(folder, "bin/llama-server"));
  expect(config.models[0]).toMatchObject({ weights_path: "/home/ada/w.gguf", aux_path: "p.gguf" });
});

test("folders can be set by the environment", async () => {
  const { config, origins } = await loadWithout({
    env: { SOMNUS_PATHS_CACHE_DIR: "/k", SOMNUS_PATHS_DATA_DIR: "/d" },
  });
  expect(config.paths).toEqual({ cache_dir: "/k", data_dir: "/d" });
  expect(config.pool.models_dir).toBe("/d/models");
  expect(origins.get("paths.cache_dir")).toEqual({
    from: "environment",
    detail: "SOMNUS_PATHS_CACHE_DIR",
  });
});
