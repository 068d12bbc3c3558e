import { chmod, mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  emptyHome,
  gguf,
  ggufOf,
  ggufPart,
  put,
  putOllama,
  search,
  sha256,
} from "./__fixtures__/tools.js";
import { ollama } from "./tools/ollama.js";

const LIBRARY = "registry.ollama.ai/library";

test("a model of Ollama's library keeps its name and is used by its blob", async () => {
  const home = await emptyHome();
  const store = join(home, ".ollama", "models");
  const manifest = await putOllama(store, `${LIBRARY}/llama3.2/3b`, [
    { kind: "model", content: gguf("llama") },
    { kind: "template", content: "{{ .Prompt }}" },
    { kind: "params", content: "{}" },
    { kind: "license", content: "text" },
  ]);
  const { models, problems } = await search(home);
  expect(problems).toEqual([]);
  const digest = sha256(gguf("llama"));
  expect(models).toMatchObject([
    {
      ...{ tool: "ollama", name: "llama3.2:3b", id: "llama3.2:3b", location: manifest },
      ...{ quant: "F16", architecture: "llama", modality: "text_generation", caution: null },
      files: [
        {
          role: "weights",
          path: join(store, "blobs", `sha256-${digest}`),
          size: gguf("llama").length,
          claimedSha256: digest,
        },
      ],
    },
  ]);
});

test("other names keep as much as they need", async () => {
  const home = await emptyHome();
  const store = join(home, "elsewhere");
  const names = [
    `${LIBRARY}/one/latest`,
    "registry.ollama.ai/user/two/latest",
    "hf.co/owner/three-GGUF/Q8_0",
  ];
  for (const name of names) {
    await putOllama(store, name, [{ kind: "model", content: gguf("llama", name) }]);
  }
  const { models } = await search(home, { env: { OLLAMA_MODELS: store } });
  expect(models.map(({ name }) => name)).toEqual([
    "hf.co/owner/three-GGUF:Q8_0",
    "one",
    "user/two",
  ]);
});

test("two names for one model are shown once, under the one that says more", async () => {
  const home = await emptyHome();
  const store = join(home, ".ollama", "models");
  for (const tag of ["latest", "3b"]) {
    await putOllama(store, `${LIBRARY}/llama3.2/${tag}`, [
      { kind: "model", content: gguf("llama") },
    ]);
  }
  const { models } = await search(home);
  expect(models.map(({ name }) => name)).toEqual(["llama3.2:3b"]);
  expect(models[0]!.copies.map(({ name }) => name)).toEqual(["llama3.2"]);
});

test("a projector goes with its model", async () => {
  const home = await emptyHome();
  await putOllama(join(home, ".ollama", "models"), `${LIBRARY}/llava/7b`, [
    { kind: "model", content: gguf("llama") },
    { kind: "projector", content: gguf("projector") },
  ]);
  const { models } = await search(home);
  expect(models).toMatchObject([{ additionalModalities: ["vision"] }]);
  expect(models[0]!.files.map(({ role }) => role)).toEqual(["weights", "aux"]);
});

test("a layout of Ollama's own is said to be untested, unless the file came from the hub", async () => {
  const home = await emptyHome();
  const store = join(home, ".ollama", "models");
  const layers = [{ kind: "model", content: ggufOf("gemma3") }];
  await putOllama(store, `${LIBRARY}/gemma3/4b`, layers);
  expect((await search(home)).models[0]!.caution).toMatch(/gemma3 models in a layout of its own/);
  await rm(store, { recursive: true });
  await putOllama(store, "hf.co/owner/gemma/Q4_0", layers);
  expect((await search(home)).models[0]!.caution).toBeNull();
});

test("of a manifest list the variant in GGUF is taken", async () => {
  const home = await emptyHome();
  const store = join(home, ".ollama", "models");
  const child = await putOllama(store, `${LIBRARY}/child/latest`, [
    { kind: "model", content: gguf("llama") },
  ]);
  const content = JSON.stringify({
    layers: [
      {
        mediaType: "application/vnd.ollama.image.model",
        digest: `sha256:${sha256(gguf("llama"))}`,
        size: gguf("llama").length,
      },
    ],
  });
  await rm(child);
  const digest = sha256(Buffer.from(content));
  const blob = await put(join(store, "blobs", `sha256-${digest}`), content);
  const list = {
    mediaType: "application/vnd.ollama.manifest.list.v2+json",
    manifests: [
      { runner: "mlx", format: "safetensors", digest: `sha256:${"0".repeat(64)}` },
      { runner: "ollama", format: "gguf", digest: `sha256:${digest}` },
    ],
  };
  await put(join(store, "manifests-v2", LIBRARY, "listed", "8b"), JSON.stringify(list));
  // The newer store links its manifests to blobs.
  await mkdir(join(store, "manifests-v2", LIBRARY, "linked"), { recursive: true });
  await symlink(blob, join(store, "manifests-v2", LIBRARY, "linked", "1b"));
  const { models, problems } = await search(home);
  expect(problems).toEqual([]);
  expect([models[0]!, ...models[0]!.copies].map(({ name }) => name).sort()).toEqual([
    "linked:1b",
    "listed:8b",
  ]);
});

test("parts under blob names are one model that needs names of its own", async () => {
  const home = await emptyHome();
  await putOllama(join(home, ".ollama", "models"), `${LIBRARY}/large/70b`, [
    { kind: "model", content: ggufPart(1, 2) },
    { kind: "model", content: ggufPart(2, 2) },
  ]);
  const { models } = await search(home);
  expect(models).toMatchObject([{ name: "large:70b", needsOwnNames: true }]);
  expect(models[0]!.files.map(({ part }) => part?.number)).toEqual([1, 2]);
});

const modelLayer = (digest: unknown, size?: unknown) =>
  JSON.stringify({ layers: [{ mediaType: "application/vnd.ollama.image.model", digest, size }] });

test.each<[string, string, RegExp]>([
  ["no JSON", "{", /the manifest of bad:1 is not JSON/i],
  ["JSON of another kind", "[1]", /is not an Ollama manifest/],
  ["JSON null", "null", /is not an Ollama manifest/],
  ["a blob that is gone", modelLayer(`sha256:${"0".repeat(64)}`), /leads to a file that is gone/],
  ["a digest that leads elsewhere", modelLayer("sha256:../../../etc/passwd"), /no SHA-256/],
  ["a digest that is a number", modelLayer(7), /no SHA-256/],
  ["a longer digest", modelLayer(`sha256:${"0".repeat(64)}/../x`), /no SHA-256/],
  ["no weights", '{"layers":[]}', /names no weights/],
  ["another size", modelLayer(`sha256:${sha256(gguf("llama"))}`, 5), /a file of 5 bytes/],
  ["an adapter", '{"layers":[{"mediaType":"application/vnd.ollama.image.adapter"}]}', /adapter/],
  ["a list without GGUF", '{"mediaType":"application/vnd.ollama.manifest.list.v2+json"}', /GGUF/],
  ["far too much", " ".repeat(2_000_000), /too large/],
])("a manifest with %s is named and passed over", async (_, content, problem) => {
  const home = await emptyHome();
  const store = join(home, ".ollama", "models");
  await putOllama(store, `${LIBRARY}/good/1b`, [{ kind: "model", content: gguf("llama") }]);
  const path = await put(join(store, "manifests", LIBRARY, "bad", "1"), content);
  const { models, problems } = await search(home);
  expect(models.map(({ name }) => name)).toEqual(["good:1b"]);
  expect(problems).toEqual([{ tool: "ollama", path, problem: expect.stringMatching(problem) }]);
});

test("a blob that is no model is named", async () => {
  const home = await emptyHome();
  await putOllama(join(home, ".ollama", "models"), `${LIBRARY}/bad/1`, [
    { kind: "model", content: gguf("llama").subarray(0, 4_000) },
  ]);
  const { models, problems } = await search(home);
  expect(models).toEqual([]);
  expect(problems[0]!.problem).toMatch(/cut short|damaged|ends/);
});

test("what is no manifest of the store is not looked at", async () => {
  const home = await emptyHome();
  const store = join(home, ".ollama", "models");
  await put(join(store, "manifests", "stray"), "{");
  await put(join(store, "manifests", LIBRARY, ".DS_Store"), "{");
  await put(join(store, "manifests", LIBRARY, "a", ".DS_Store"), "{");
  await chmod(store, 0o755);
  expect(await search(home)).toMatchObject({ models: [], problems: [] });
});

test("where OLLAMA_MODELS is not set, the service's folder of Linux is looked at too", async () => {
  const machine = { env: {}, platform: "linux", home: "/home/me" } as const;
  const usual = "/home/me/.ollama/models";
  expect(await ollama.folders(machine)).toEqual([usual, "/usr/share/ollama/.ollama/models"]);
  const env = { OLLAMA_MODELS: '"~/big/models"' };
  expect(await ollama.folders({ ...machine, env })).toEqual(["/home/me/big/models", usual]);
  expect(await ollama.folders({ ...machine, platform: "darwin" })).toEqual([usual]);
});
