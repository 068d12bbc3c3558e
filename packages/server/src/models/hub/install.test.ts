import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import {
  cacheFile,
  type FakeHub,
  type FakeRepository,
  sha256Of,
  startFakeHub,
} from "../../../test/fake-hub/index.js";
import {
  encodeGguf,
  partNames,
  splitGguf,
  string,
  tinyBert,
  tinyLlama,
  tinyProjector,
} from "../../../test/gguf/index.js";
import { createArtifacts } from "../../artifacts/index.js";
import type { Progress } from "../../observe/index.js";
import type { Catalog } from "../catalog/index.js";
import { openLibrary } from "../library/index.js";
import { type HubModel, installHubModel, resolveHubModel } from "./index.js";

const REPO = "owner/Name-GGUF";
const signal = new AbortController().signal;
const llama = encodeGguf(tinyLlama());

let modelsDir: string;
beforeEach(async () => {
  modelsDir = await mkdtemp(join(tmpdir(), "somnus-models-"));
  onTestFinished(() => rm(modelsDir, { recursive: true, force: true }));
});

function startHub(files: FakeRepository["files"], more: Partial<FakeRepository> = {}) {
  return startFakeHub({ repositories: { [REPO]: { files, ...more } } });
}

/** A catalog whose only verified architecture is this one. */
function catalogOf(architecture: string): Catalog {
  return { catalog_version: 1, models: [{ architecture, verified: true }] } as unknown as Catalog;
}

function install(hub: FakeHub, model: HubModel, steps: Progress[] = []) {
  return installHubModel(model, {
    artifacts: createArtifacts({ env: hub.env }),
    modelsDir,
    catalog: catalogOf("llama"),
    on: (progress) => steps.push(progress),
    signal,
  });
}

describe("a model of the hub", () => {
  it("is found by its quantization and becomes a model of the library", async () => {
    const hub = await startHub(
      { "m-Q4_K_M.gguf": llama, "m-Q8_0.gguf": llama },
      {
        card: { license: "mit" },
      },
    );
    const model = await resolveHubModel(`${REPO}:q8_0`, { env: hub.env, signal });
    expect(model).toMatchObject({
      id: `${REPO}:Q8_0`,
      commit: hub.commitOf(REPO),
      license: "mit",
      size: llama.length,
    });
    expect(await readdir(modelsDir)).toEqual([]);

    const steps: Progress[] = [];
    const manifest = await install(hub, model, steps);
    expect(manifest).toMatchObject({
      id: `${REPO}:Q8_0`,
      quant: "Q8_0",
      modality: "text_generation",
      additional_modalities: [],
      architecture: "llama",
      license: "mit",
      untested: false,
      origin: { type: "huggingface", repo: REPO, revision: hub.commitOf(REPO) },
      files: [
        {
          role: "weights",
          path: `hub/${REPO}/m-Q8_0.gguf`,
          size: llama.length,
          sha256: sha256Of(llama),
          ours: true,
        },
      ],
    });
    expect(await openLibrary(modelsDir).list()).toEqual([manifest]);
    expect((await stat(join(modelsDir, "hub", REPO, "m-Q8_0.gguf"))).size).toBe(llama.length);
    expect(new Set(steps.map(({ file }) => file))).toEqual(new Set(["m-Q8_0.gguf"]));
  });

  it("of an architecture that nobody tried is marked, and one that embeds is told", async () => {
    const hub = await startHub({ "bert.gguf": encodeGguf(tinyBert()) });
    const model = await resolveHubModel(REPO, { env: hub.env, signal });
    expect(model.id).toBe(`${REPO}:bert`);
    expect(await install(hub, model)).toMatchObject({
      modality: "embeddings",
      architecture: "bert",
      untested: true,
      quant: "F16",
    });
  });

  it("comes in all its parts, with its projector", async () => {
    const parts = splitGguf(tinyLlama(), 3).map((part) => encodeGguf(part));
    const names = partNames("Q8_0/m-Q8_0", 3);
    const hub = await startHub({
      ...Object.fromEntries(names.map((name, i) => [name, parts[i]!])),
      "mmproj-F16.gguf": encodeGguf(tinyProjector()),
    });
    const model = await resolveHubModel(REPO, { env: hub.env, signal });
    const manifest = await install(hub, model);
    expect(manifest.additional_modalities).toEqual(["vision"]);
    expect(manifest.files.map(({ role, path }) => [role, path])).toEqual([
      ...names.map((name) => ["weights", `hub/${REPO}/${name}`]),
      ["aux", `hub/${REPO}/mmproj-F16.gguf`],
    ]);
    const onDisk = (await readdir(join(modelsDir, "hub", REPO, "Q8_0"))).filter(
      (name) => !name.startsWith("."),
    );
    expect(onDisk.sort()).toEqual(names.map((name) => name.slice("Q8_0/".length)));
  });

  it("has an id of its own where several are in one quantization, and one that is not too long", async () => {
    const long = `${"a long name ".repeat(12)}.gguf`;
    const hub = await startHub({ "a/m-Q8_0.gguf": llama, "b/m-Q8_0.gguf": llama, [long]: llama });
    const idOf = async (path: string) =>
      (await resolveHubModel(`${REPO}:${path}`, { env: hub.env, signal })).id;
    expect(await idOf("a/m-Q8_0.gguf")).toBe(`${REPO}:a-m-Q8_0`);
    expect(await idOf("b/m-Q8_0.gguf")).toBe(`${REPO}:b-m-Q8_0`);
    expect(await idOf(long)).toMatch(/^owner\/Name-GGUF:a-long-name-[a-z-]{80,}-[0-9a-f]{8}$/);
    expect(await idOf(long)).toHaveLength(128);
  });

  it("of a repository that was renamed says so", async () => {
    const hub = await startFakeHub({
      repositories: { [REPO]: { files: { "m.gguf": llama } } },
      intercept({ url }, response) {
        if (!url?.startsWith("/api/models/old/name/")) return false;
        response.writeHead(307, { location: url.replace("old/name", REPO) }).end();
        return true;
      },
    });
    const { id, notes } = await resolveHubModel("old/name", { env: hub.env, signal });
    expect(id).toBe(`${REPO}:m`);
    expect(notes).toEqual([`old/name is called ${REPO} now.`]);
  });

  it("is taken from the revision that is named, whatever the branch means later", async () => {
    const hub = await startHub({ "m-Q4_K_M.gguf": llama }, { revisions: ["v1"] });
    const { commit, files } = await resolveHubModel(`${REPO}@v1`, { env: hub.env, signal });
    expect(files[0]!.spec.sources).toEqual([
      { type: "huggingface", repo: REPO, revision: commit, path: "m-Q4_K_M.gguf" },
    ]);
  });

  it("comes out of the cache without the hub", async () => {
    const hub = await startHub({});
    const commit = "c".repeat(40);
    await cacheFile(hub.cacheDir, { repo: REPO, commit, path: "m-Q4_K_M.gguf", content: llama });
    const offline = { ...hub, env: { ...hub.env, HF_HUB_OFFLINE: "1" } };
    const model = await resolveHubModel(REPO, { env: offline.env, signal });
    expect(await install(offline, model)).toMatchObject({ id: `${REPO}:Q4_K_M` });
    expect(hub.requests).toEqual([]);
    const elsewhere = resolveHubModel(`${REPO}@v2`, { env: offline.env, signal });
    await expect(elsewhere).rejects.toThrow(/HF_HUB_OFFLINE is set, and the cache .* v2/);
  });

  it("that is none is refused after all, and its file stays for a look", async () => {
    const adapter = tinyLlama();
    const hub = await startHub({
      "m-Q4_K_M.gguf": encodeGguf({
        ...adapter,
        metadata: adapter.metadata.map(([key, value]) =>
          key === "general.type" ? [key, string("adapter")] : [key, value],
        ),
      }),
      "m-Q8_0.gguf": Buffer.alloc(2_000, "no model"),
    });
    for (const [quant, reason] of [
      ["Q4_K_M", /it is an adapter \(LoRA\)/],
      ["Q8_0", /it is not a GGUF file/],
    ] as const) {
      const model = await resolveHubModel(`${REPO}:${quant}`, { env: hub.env, signal });
      await expect(install(hub, model)).rejects.toThrow(reason);
    }
    expect(await openLibrary(modelsDir).list()).toEqual([]);
    const left = await readdir(join(modelsDir, "hub", REPO));
    expect(left.filter((name) => !name.startsWith("."))).toEqual(["m-Q4_K_M.gguf", "m-Q8_0.gguf"]);
  });

  it("that was stopped goes on, and is in the library only when it is whole", async () => {
    const hub = await startHub({ "m-Q4_K_M.gguf": llama });
    const model = await resolveHubModel(REPO, { env: hub.env, signal });
    const abort = new AbortController();
    abort.abort(new Error("stop"));
    const options = {
      artifacts: createArtifacts({ env: hub.env }),
      modelsDir,
      catalog: catalogOf("llama"),
      on: () => {},
    };
    await expect(installHubModel(model, { ...options, signal: abort.signal })).rejects.toThrow(
      "stop",
    );
    expect(await openLibrary(modelsDir).list()).toEqual([]);
    await installHubModel(model, { ...options, signal });
    expect(await openLibrary(modelsDir).list()).toHaveLength(1);
  });
});
