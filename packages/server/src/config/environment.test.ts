import { expect, test } from "vitest";
import { loadWithout, problemsOf } from "./__fixtures__/config-folder.js";
import { FOREIGN_VARIABLES } from "./environment.js";
import { SETTINGS } from "./settings.js";

test("each setting has its own variable, and foreign names belong to settings", () => {
  const variables = SETTINGS.flatMap(({ variable }) => (variable === null ? [] : [variable]));
  expect(new Set(variables).size).toBe(variables.length);
  expect(variables).toContain("SOMNUS_ENGINES_LLAMA_PATH");
  const reachable = SETTINGS.filter(({ variable }) => variable !== null).map(({ key }) => key);
  expect(reachable).toEqual(expect.arrayContaining(Object.keys(FOREIGN_VARIABLES)));
  expect(SETTINGS.find(({ key }) => key === "models[].id")?.variable).toBeNull();
  expect(SETTINGS.find(({ key }) => key === "aliases")?.variable).toBeNull();
});

test("values are read by the type of the setting", async () => {
  const { config } = await loadWithout({
    env: {
      SOMNUS_SERVER_HOST: "127.0.0.1,::1",
      SOMNUS_SERVER_DRAIN_SECS: "2.5",
      SOMNUS_POOL_AUTOLOAD: "off",
      SOMNUS_SERVER_LOG_LEVEL: "debug",
      SOMNUS_SERVER_API_KEYS: "a,b",
    },
  });
  expect(config.server).toMatchObject({
    host: ["127.0.0.1", "::1"],
    drain_secs: 2.5,
    log_level: "debug",
    api_keys: ["a", "b"],
  });
  expect(config.pool.autoload).toBe(false);
});

test("an empty variable is not set", async () => {
  const env = { SOMNUS_SERVER_PORT: "", SOMNUS_NO_SUCH_THING: "", HYPNOS_PORT: "" };
  expect((await loadWithout({ env })).config.server.port).toBe(9999);
});

test("wrong values name the variable that was set", async () => {
  const env = { HYPNOS_PORT: "99999", SOMNUS_POOL_IDLE_UNLOAD_SECS: "soon" };
  expect(await problemsOf(loadWithout({ env }))).toEqual([
    "HYPNOS_PORT must be from 0 to 65535, not 99999.",
    'SOMNUS_POOL_IDLE_UNLOAD_SECS must be a number, not "soon".',
  ]);
});

test("an unknown variable of ours is a problem, with the nearest name", async () => {
  const env = { SOMNUS_SERVER_PROT: "1", SOMNUS_XYZ: "1", HYPNOS_XYZ: "1", LOCAL_LLM_XYZ: "1" };
  expect(await problemsOf(loadWithout({ env }))).toEqual([
    "There is no setting for the environment variable SOMNUS_SERVER_PROT. Did you mean SOMNUS_SERVER_PORT?",
    "There is no setting for the environment variable SOMNUS_XYZ.",
  ]);
});

test("variables that are no settings are let be", async () => {
  const env = { SOMNUS_PROCESS_TOKEN: "t", SOMNUS_TEST_X: "1", SOMNUS_SETUP_X: "1" };
  expect((await loadWithout({ env })).warnings).toEqual([]);
});

test("a foreign port that is not ours is said to have no effect", async () => {
  const { config, warnings } = await loadWithout({ env: { LOCAL_LLM_SERVER_PORT: "8091" } });
  expect(config.server.port).toBe(9999);
  expect(warnings).toEqual([expect.stringMatching(/^LOCAL_LLM_SERVER_PORT has no effect/)]);
});
