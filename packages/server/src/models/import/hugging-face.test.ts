import { mkdir, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  emptyHome,
  gguf,
  ggufPart,
  put,
  putRepository,
  search,
  sha256,
} from "./__fixtures__/tools.js";
import { hubCache } from "./tools/hugging-face.js";

test("models of the hub's cache are named by repository and quantization", async () => {
  const home = await emptyHome();
  const cache = join(home, ".cache", "huggingface", "hub");
  const snapshot = await putRepository(cache, "owner/model-GGUF", {
    "model-Q4_K_M.gguf": gguf("llama", "a"),
    "Q8_0/model-Q8_0.gguf": gguf("llama", "b"),
    "README.md": "text",
  });
  await putRepository(cache, "owner/embed", { "embed-f16.gguf": gguf("bert") });
  await put(join(cache, "datasets--owner--data", "snapshots", "x", "a.gguf"), "no model");
  const { models, problems } = await search(home);
  expect(problems).toEqual([]);
  expect(models.map(({ name, modality }) => [name, modality])).toEqual([
    ["owner/embed:F16", "embeddings"],
    ["owner/model-GGUF:Q4_K_M", "text_generation"],
    ["owner/model-GGUF:Q8_0", "text_generation"],
  ]);
  expect(models[1]!.files).toEqual([
    {
      ...{ role: "weights", part: null, size: gguf("llama", "a").length },
      path: join(snapshot, "model-Q4_K_M.gguf"),
      claimedSha256: sha256(gguf("llama", "a")),
    },
  ]);
});

test("a split model is one model, and one with a missing part is none", async () => {
  const home = await emptyHome();
  const cache = join(home, ".cache", "huggingface", "hub");
  await putRepository(cache, "owner/whole", {
    "m-Q4_0-00001-of-00002.gguf": ggufPart(1, 2),
    "m-Q4_0-00002-of-00002.gguf": ggufPart(2, 2),
  });
  await putRepository(cache, "owner/half", { "m-Q4_0-00001-of-00002.gguf": ggufPart(1, 2) });
  const { models, problems } = await search(home);
  expect(models).toMatchObject([{ name: "owner/whole:Q4_0", needsOwnNames: false }]);
  expect(models[0]!.size).toBe(ggufPart(1, 2).length + ggufPart(2, 2).length);
  expect(problems).toMatchObject([{ problem: "Of its 2 parts these are missing: 2." }]);
});

test("the current commit counts; an older one only adds what it lacks", async () => {
  const home = await emptyHome();
  const cache = join(home, ".cache", "huggingface", "hub");
  const old = await putRepository(
    cache,
    "owner/m",
    { "m-Q4_0.gguf": gguf("llama", "old"), "m-Q8_0.gguf": gguf("llama", "only old") },
    "b".repeat(40),
  );
  const current = await putRepository(cache, "owner/m", { "m-Q4_0.gguf": gguf("llama", "new") });
  await utimes(current, 1, 1);
  const { models } = await search(home);
  expect(models.map(({ location }) => location)).toEqual([
    join(current, "m-Q4_0.gguf"),
    join(old, "m-Q8_0.gguf"),
  ]);
});

test("links into nowhere and to themselves are named", async () => {
  const home = await emptyHome();
  const cache = join(home, ".cache", "huggingface", "hub");
  const snapshot = await putRepository(cache, "owner/m", { "m-Q4_0.gguf": gguf("llama") });
  await symlink(join(home, "gone"), join(snapshot, "gone-Q8_0.gguf"));
  await symlink(join(snapshot, "loop-F16.gguf"), join(snapshot, "loop-F16.gguf"));
  await symlink(snapshot, join(snapshot, "again"));
  const { models, problems } = await search(home);
  expect(models.map(({ name }) => name)).toEqual(["owner/m:Q4_0"]);
  expect(problems.map(({ path }) => path).sort()).toEqual([
    join(snapshot, "gone-Q8_0.gguf"),
    join(snapshot, "loop-F16.gguf"),
  ]);
});

test("a sentence-transformers folder is offered for conversion", async () => {
  const home = await emptyHome();
  const cache = join(home, ".cache", "huggingface", "hub");
  const snapshot = await putRepository(cache, "sentence-transformers/all-MiniLM-L6-v2", {
    "config.json": JSON.stringify({ model_type: "bert", architectures: ["BertModel"] }),
    "modules.json": JSON.stringify([
      { idx: 0, name: "0", path: "", type: "sentence_transformers.models.Transformer" },
      { idx: 1, name: "1", path: "1_Pooling", type: "sentence_transformers.models.Pooling" },
    ]),
    "1_Pooling/config.json": JSON.stringify({ pooling_mode_mean_tokens: true }),
    "tokenizer.json": "{}",
    "vocab.txt": "a",
    "model.safetensors": "weights",
  });
  const { models } = await search(home);
  expect(models).toMatchObject([
    {
      name: "sentence-transformers/all-MiniLM-L6-v2",
      ...{ location: snapshot, converter: expect.any(String), files: [], modality: "embeddings" },
    },
  ]);
});

test.each<[NodeJS.ProcessEnv, string]>([
  [{}, "/home/me/.cache/huggingface/hub"],
  [{ XDG_CACHE_HOME: "/c" }, "/c/huggingface/hub"],
  [{ XDG_CACHE_HOME: "/c", HF_HOME: "~/hf" }, "/home/me/hf/hub"],
  [{ HF_HOME: "/hf", HUGGINGFACE_HUB_CACHE: "/older" }, "/older"],
  [{ HF_HOME: "/hf", HF_HUB_CACHE: "/cache", HUGGINGFACE_HUB_CACHE: "/older" }, "/cache"],
  [{ HF_HOME: "", HF_HUB_CACHE: " " }, "/home/me/.cache/huggingface/hub"],
])("the cache lies where its variables say: %j", (env, folder) => {
  expect(hubCache({ env, platform: "linux", home: "/home/me" })).toBe(folder);
});

test("a cache without repositories holds nothing", async () => {
  const home = await emptyHome();
  await mkdir(join(home, ".cache", "huggingface", "hub", "models--owner--empty"), {
    recursive: true,
  });
  expect(await search(home)).toMatchObject({ models: [], problems: [] });
});
