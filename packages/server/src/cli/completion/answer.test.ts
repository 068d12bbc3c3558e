import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCatalog } from "../../models/index.js";
import { answerTo, machineWithIds } from "./__fixtures__/completing.js";

test("verbs are suggested by their beginning, with what they do", async () => {
  const all = await answerTo([""]);
  expect(all.values).toEqual(expect.arrayContaining(["serve", "run", "pull", "import", "engine"]));
  expect(all.lines).toContain("serve\tStart the server");
  expect((await answerTo(["se"])).values).toEqual(["serve"]);
  expect((await answerTo(["config", "s"])).values).toEqual(["show"]);
  expect((await answerTo(["completion", ""])).values).toEqual(["bash", "zsh", "fish"]);
});

test("options are those of the verb and of the whole program", async () => {
  expect((await answerTo(["serve", "--po"])).values).toEqual(["--port"]);
  const { values } = await answerTo(["serve", "--"]);
  expect(values).toEqual(expect.arrayContaining(["--no-preload", "--config", "--help"]));
  expect(values).not.toContain("-p");
  expect((await answerTo(["serve", "-"])).values).toContain("-p");
});

test("an option's value is suggested where its choices or its kind are known", async () => {
  expect((await answerTo(["serve", "--log-format", ""])).values).toEqual(["json", "text"]);
  expect((await answerTo(["serve", "--log-format=j"])).values).toEqual(["--log-format=json"]);
  expect((await answerTo(["--config", ""])).kind).toBe("files");
  expect((await answerTo(["serve", "--models-dir", ""])).kind).toBe("folders");
  expect(await answerTo(["serve", "--port", ""])).toMatchObject({ kind: "values", values: [] });
});

test("models that are here are suggested to those verbs that take one", async () => {
  const { env } = await machineWithIds();
  const here = ["llama3.2:1b", "llama3.2:3b", "owner/repo:Q4_K_M"];
  expect((await answerTo(["run", ""], env)).values).toEqual(here);
  expect((await answerTo(["--verbose", "run", "llama3.2:"], env)).values).toEqual([
    "llama3.2:1b",
    "llama3.2:3b",
  ]);
  expect((await answerTo(["rm", "owner/repo:Q4_K_M", "llama3.2:3"], env)).values).toEqual([
    "llama3.2:3b",
  ]);
  expect((await answerTo(["run", "llama3.2:3b", ""], env)).values).toEqual([]);
  expect((await answerTo(["serve", "--default-model", "own"], env)).values).toEqual([
    "owner/repo:Q4_K_M",
  ]);
});

test("models of the catalog are suggested to pull, and their quantizations behind a colon", async () => {
  const catalog = await readCatalog();
  const [model] = catalog.models;
  const { values } = await answerTo(["pull", ""]);
  expect(values).toEqual(catalog.models.map(({ id }) => id));
  const quants = model!.variants.map(({ quant }) => `${model!.id}:${quant}`);
  const behind = await answerTo(["pull", `${model!.id}:`]);
  expect(behind.values).toEqual(expect.arrayContaining(quants));
});

test("builds of engines are suggested to use and remove", async () => {
  const { env } = await machineWithIds();
  expect((await answerTo(["engine", "use", ""], env)).values).toEqual([
    "b11434-cpu-release",
    "auto",
  ]);
  expect((await answerTo(["engine", "remove", "b1"], env)).values).toEqual(["b11434-cpu-release"]);
});

test("the folders count as configured: by --set, the environment, the file", async () => {
  const { home } = await machineWithIds();
  const elsewhere = join(home, "work");
  await mkdir(join(elsewhere, "mine", "library"), { recursive: true });
  await writeFile(join(elsewhere, "mine", "library", "a.json"), JSON.stringify({ id: "a" }));
  await writeFile(
    join(elsewhere, "somnus.toml"),
    '[pool]\nmodels_dir = "mine"\n[[models]]\nid = "configured"\n',
  );
  const env = { HOME: home };
  expect((await answerTo(["run", ""], env, elsewhere)).values).toEqual(["a", "configured"]);
  const set = `pool.models_dir=${join(home, "models")}`;
  expect((await answerTo(["--set", set, "run", "l"], env, elsewhere)).values).toEqual([
    "llama3.2:1b",
    "llama3.2:3b",
  ]);
});

test.each([
  ["behind --", ["run", "--", ""]],
  ["an option that there is not", ["run", "--nonsense", "--nonsense=x"]],
  ["a verb that there is not", ["nonsense", ""]],
])("nothing is suggested, and nothing said, for %s", async (_, words) => {
  const { values, err } = await answerTo(words, { SOMNUS_CONFIG: "/nowhere/somnus.toml" });
  expect([values, err]).toEqual([[], ""]);
});

test("a broken configuration file is passed over in silence", async () => {
  const { home, env } = await machineWithIds();
  await writeFile(join(home, "somnus.toml"), "[[[");
  const { values, err, code } = await answerTo(["run", "own"], env, home);
  expect([values, err, code]).toEqual([["owner/repo:Q4_K_M"], "", 0]);
});
