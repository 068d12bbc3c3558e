import { link } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyHome, gguf, put, putOllama, putRepository, search } from "./__fixtures__/tools.js";
import { gpt4all } from "./tools/gpt4all.js";
import { jan } from "./tools/jan.js";
import { llamaCpp } from "./tools/llama-cpp.js";
import { lmStudio } from "./tools/lm-studio.js";

const named = async (home: string, env: NodeJS.ProcessEnv = {}) => {
  const { models, problems } = await search(home, { env });
  expect(problems).toEqual([]);
  return models.map(({ tool, name, files }) => [tool, name, files.length]);
};

test("LM Studio: publisher, model and quantization, with the projector beside it", async () => {
  const home = await emptyHome();
  const models = join(home, ".lmstudio", "models");
  await put(join(models, "owner", "see-GGUF", "see-Q4_K_M.gguf"), gguf("llama"));
  await put(join(models, "owner", "see-GGUF", "mmproj-see-f16.gguf"), gguf("projector"));
  await put(join(models, "owner", "see-GGUF", "downloading_x-Q8_0.gguf.part"), "part");
  expect(await named(home)).toEqual([["lm-studio", "owner/see-GGUF:Q4_K_M", 2]]);
});

test("LM Studio's models are where its pointer and its settings say", async () => {
  const home = await emptyHome();
  await put(join(home, ".lmstudio-home-pointer"), `${join(home, "lms")}\n`);
  await put(
    join(home, "lms", "settings.json"),
    JSON.stringify({ downloadsFolder: join(home, "big disk") }),
  );
  await put(join(home, "big disk", "a", "b", "b-Q8_0.gguf"), gguf("llama", "b"));
  await put(join(home, "lms", "models", "a", "c", "c-F16.gguf"), gguf("llama", "c"));
  expect(await named(home)).toEqual([
    ["lm-studio", "a/b:Q8_0", 1],
    ["lm-studio", "a/c:F16", 1],
  ]);
});

test.each(["{", '{"downloadsFolder":7}', "[]", ""])(
  "settings of LM Studio like %j are no harm",
  async (text) => {
    const home = await emptyHome();
    await put(join(home, ".lmstudio", "settings.json"), text);
    await put(join(home, ".lmstudio", "models", "a", "b", "b-Q8_0.gguf"), gguf("llama"));
    expect(await named(home)).toEqual([["lm-studio", "a/b:Q8_0", 1]]);
  },
);

test("llama.cpp: flat names, and the hub's layout in its own folder", async () => {
  const home = await emptyHome();
  const cache = join(home, ".cache", "llama.cpp");
  await put(join(cache, "ggml-org_tiny-GGUF_tiny-Q4_K_M.gguf"), gguf("llama", "flat"));
  await put(join(cache, "ggml-org_tiny-GGUF_tiny-Q4_K_M.gguf.json"), "{}");
  await putRepository(join(home, "own"), "owner/new-GGUF", {
    "new-Q8_0.gguf": gguf("llama", "new"),
  });
  expect(await named(home, { LLAMA_CACHE: join(home, "own") })).toEqual([
    ["llama.cpp", "ggml-org/tiny-GGUF:Q4_K_M", 1],
    ["llama.cpp", "owner/new-GGUF:Q8_0", 1],
  ]);
});

test("Jan and GPT4All", async () => {
  const home = await emptyHome();
  const data = join(home, ".local", "share");
  const folder = join(data, "Jan", "data", "llamacpp", "models", "unsloth", "gemma-IQ4_XS");
  await put(join(folder, "model.gguf"), gguf("llama", "jan"));
  await put(join(folder, "mmproj.gguf"), gguf("projector"));
  await put(join(home, "jan", "models", "older", "older-Q4_0.gguf"), gguf("llama", "older"));
  await put(join(data, "nomic.ai", "GPT4All", "Orca-2.Q4_0.gguf"), gguf("llama", "orca"));
  expect(await named(home)).toEqual([
    ["gpt4all", "Orca-2:Q4_0", 1],
    ["jan", "older:Q4_0", 1],
    ["jan", "unsloth/gemma-IQ4_XS", 2],
  ]);
});

test("the same model in several programs is shown once, by link, digest or content", async () => {
  const home = await emptyHome();
  const bytes = gguf("llama", "shared");
  const snapshot = await putRepository(join(home, ".cache", "huggingface", "hub"), "owner/m", {
    "m-Q4_0.gguf": bytes,
  });
  await putOllama(join(home, ".ollama", "models"), "registry.ollama.ai/library/m/1b", [
    { kind: "model", content: bytes },
  ]);
  await put(join(home, ".lmstudio", "models", "p", "m", "m-Q4_0.gguf"), bytes);
  const other = gguf("llama", "sharer");
  expect(other.length).toBe(bytes.length);
  const linked = await put(join(home, ".lmstudio", "models", "p", "n", "n-Q4_0.gguf"), other);
  await put(join(home, ".local", "share", "nomic.ai", "GPT4All", ".keep"), "");
  await link(linked, join(home, ".local", "share", "nomic.ai", "GPT4All", "n-Q4_0.gguf"));
  const { models } = await search(home);
  expect(models.map(({ name }) => name)).toEqual(["owner/m:Q4_0", "p/n:Q4_0"]);
  expect(models[0]!.location).toBe(join(snapshot, "m-Q4_0.gguf"));
  expect(models.map(({ copies }) => copies.map(({ tool, name }) => `${tool} ${name}`))).toEqual([
    ["lm-studio p/m:Q4_0", "ollama m:1b"],
    ["gpt4all n:Q4_0"],
  ]);
});

test.each([
  ["darwin", "/Users/me/Library/Application Support/nomic.ai/GPT4All"],
  ["win32", "C:\\Users\\me\\AppData\\Local\\nomic.ai\\GPT4All"],
] as const)("each platform has its own places: %s", async (platform, folder) => {
  const home = platform === "win32" ? "C:\\Users\\me" : "/Users/me";
  const machine = { env: {}, platform, home };
  expect(await gpt4all.folders(machine)).toEqual([folder]);
  const all = [...(await jan.folders(machine)), ...(await llamaCpp.folders(machine))];
  expect(all).toContain(
    platform === "win32"
      ? "C:\\Users\\me\\AppData\\Roaming\\Jan\\data\\llamacpp\\models"
      : "/Users/me/Library/Application Support/Jan/data/llamacpp/models",
  );
  expect(all).toContain(
    platform === "win32"
      ? "C:\\Users\\me\\AppData\\Local\\llama.cpp"
      : "/Users/me/Library/Caches/llama.cpp",
  );
  const studio = await lmStudio.folders(machine);
  expect(studio).toContain(
    platform === "win32" ? "C:\\Users\\me\\.lmstudio\\models" : "/Users/me/.lmstudio/models",
  );
});

test("models that their programs know to differ are two, however alike they look", async () => {
  const home = await emptyHome();
  const bytes = Buffer.from(gguf("llama", "one"));
  const other = Buffer.from(bytes);
  // Not among the samples that are compared where nobody knows a digest.
  other[Math.floor(other.length / 4)]! ^= 1;
  const store = join(home, ".ollama", "models");
  const library = "registry.ollama.ai/library";
  await putOllama(store, `${library}/a/1`, [{ kind: "model", content: bytes }]);
  await putOllama(store, `${library}/b/1`, [{ kind: "model", content: other }]);
  expect(await named(home)).toEqual([
    ["ollama", "a:1", 1],
    ["ollama", "b:1", 1],
  ]);
});

test("a thousand files of one size are compared in one pass", async () => {
  const home = await emptyHome();
  const folder = join(home, ".lmstudio", "models", "a", "m");
  await put(join(folder, "0.gguf"), gguf("llama"));
  for (let i = 1; i < 1_000; i++) await link(join(folder, "0.gguf"), join(folder, `${i}.gguf`));
  const { models } = await search(home);
  expect(models.map(({ copies }) => copies.length)).toEqual([999]);
});
