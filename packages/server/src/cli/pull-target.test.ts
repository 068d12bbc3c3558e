import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createArtifacts } from "../artifacts/index.js";
import type { CatalogModel } from "../models/index.js";
import { temporaryFolder } from "./__fixtures__/cli.js";
import { catalogTarget } from "./pull-target.js";

test("what only the first download vouches for is told", async () => {
  const folder = await temporaryFolder();
  const from = join(folder, "elsewhere.gguf");
  await writeFile(from, "a file whose hash nobody published");
  const variant = {
    quant: "F16",
    files: [
      {
        role: "weights" as const,
        file: "unknown.gguf",
        sources: [{ type: "file" as const, path: from }],
      },
    ],
  };
  const model = { id: "m", license: "mit", verified: false, modality: "embeddings" };
  const place = { artifacts: createArtifacts(), modelsDir: join(folder, "models") };
  const target = catalogTarget(model as CatalogModel, variant, place);
  expect(target).toMatchObject({ size: null, download_size: null, tested: false });
  expect(target.files).toEqual([
    {
      ...{ file: "unknown.gguf", size: null, sha256: null, sources: [`file ${from}`] },
      ...{ gated: false, made_from: [] },
    },
  ]);
  expect(await target.isHere()).toBe(false);
  const brought = await target.install(() => {}, new AbortController().signal);
  expect(brought).toEqual({
    modality: "embeddings",
    tested: false,
    pinned_here: ["unknown.gguf"],
  });
  expect(await target.isHere()).toBe(true);
});
