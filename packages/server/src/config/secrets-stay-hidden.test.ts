import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith, loadToml, loadWithout } from "./__fixtures__/config-folder.js";
import { explainConfig } from "./explain-config.js";
import { loadConfig } from "./load-config.js";

const secret = "sk-do-not-show";

test("keys are masked in what is shown", async () => {
  const loaded = await loadToml(
    `[server]\napi_keys = ["${secret}", "${secret}2"]\n[[server.keys]]\nkey = "${secret}3"\nlabel = "laptop"`,
  );
  const rows = explainConfig(loaded);
  expect(JSON.stringify(rows)).not.toContain(secret);
  expect(rows).toContainEqual({
    key: "server.api_keys",
    value: ["********", "********"],
    from: "file",
    detail: "somnus.toml:2",
  });
  expect(rows.find(({ key }) => key === "server.keys[0].label")?.value).toBe("laptop");
});

test.each([
  [`[server]\napi_keys = "${secret}"`, {}],
  [`[server]\napi_keys = ["${secret} "]`, {}],
  [`[server]\napi_keys = ["${secret}", "${secret}"]`, {}],
  [`[[server.keys]]\nkey = "${secret}\\n"`, {}],
  [`[[server.keys]]\nkey = { x = "${secret}" }`, {}],
  ["", { SOMNUS_SERVER_API_KEYS: `${secret} x` }],
  ["", { HYPNOS_API_KEYS: `ä${secret}` }],
])("keys are not in problems: %j %j", async (toml, env) => {
  const error = await loadToml(toml, { env }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).not.toContain(secret);
});

test.skipIf(process.platform === "win32")(
  "a file with keys that everybody can read is worth a warning",
  async () => {
    const cwd = await folderWith({ "somnus.toml": `[server]\napi_keys = ["${secret}"]` });
    const load = () => loadConfig({ env: { HOME: cwd }, flags: {}, cwd });
    expect((await load()).warnings).toEqual([]);
    await chmod(join(cwd, "somnus.toml"), 0o644);
    expect((await load()).warnings).toEqual([
      "somnus.toml holds API keys and every user of this machine can read it; chmod 600 somnus.toml closes it.",
    ]);
  },
);

test("what is shown covers every setting in force and is JSON", async () => {
  const loaded = await loadWithout();
  const rows = explainConfig(loaded);
  expect(JSON.parse(JSON.stringify(rows))).toEqual(rows.map((row) => ({ ...row })));
  expect(rows.map(({ key }) => key).toSorted()).toEqual([...loaded.origins.keys()].toSorted());
  expect(rows[0]).toEqual({ key: "config_version", value: 1, from: "default", detail: "built in" });
  expect(rows.find(({ key }) => key === "server.port")?.value).toBe(9999);
});

test("blocks and aliases are shown by their keys", async () => {
  const loaded = await loadToml(
    '[aliases]\n"gpt-*" = "m"\n[[models]]\nid = "m"\n[models.image]\nsteps = 4',
  );
  const rows = explainConfig(loaded).map(({ key, value, detail }) => [key, value, detail]);
  expect(rows).toContainEqual(['aliases."gpt-*"', "m", "somnus.toml:2"]);
  expect(rows).toContainEqual(["models[0].id", "m", "somnus.toml:4"]);
  expect(rows).toContainEqual(["models[0].image.steps", 4, "somnus.toml:6"]);
  expect(rows).toContainEqual(["models[0].enabled", true, "built in"]);
});
