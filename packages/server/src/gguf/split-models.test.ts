import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import {
  encodeGguf,
  splitGguf,
  tinyBert,
  tinyLlama,
  tinyMoe,
  writeSplitGguf,
  writeTinyMoe,
} from "../../test/gguf/index.js";
import { ggufPartPaths, readGgufModel } from "./index.js";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "somnus-split-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

it("a split model has the sizes of all its parts together", async () => {
  const dir = await folder();
  await writeTinyMoe(join(dir, "whole.gguf"));
  const whole = await readGgufModel(join(dir, "whole.gguf"));
  const [first] = await writeSplitGguf(dir, "m", tinyMoe(), 3);
  const split = await readGgufModel(first!);
  expect(split.fileBytes).toBeGreaterThan(whole.fileBytes);
  expect({ ...split, fileBytes: 0, split: null }).toEqual({ ...whole, fileBytes: 0 });
  expect(split.split).toEqual({ index: 0, count: 3 });
});

it("the parts of a model are known by the name of the first", () => {
  expect(ggufPartPaths("/d/m-00001-of-00003.gguf")).toEqual([
    "/d/m-00001-of-00003.gguf",
    "/d/m-00002-of-00003.gguf",
    "/d/m-00003-of-00003.gguf",
  ]);
  for (const path of ["/d/m.gguf", "/d/m-00002-of-00003.gguf", "/d/m-00001-of-99999.gguf"]) {
    expect(ggufPartPaths(path)).toEqual([path]);
  }
});

it.each<[string, (paths: string[]) => Promise<string>, string]>([
  [
    "a missing part",
    async (paths) => {
      await rm(paths[1]!);
      return paths[0]!;
    },
    'The model file "m-00002-of-00003.gguf" cannot be used: it does not exist.',
  ],
  ["another part than the first", async (paths) => paths[1]!, "it is part 2 of 3; take the first"],
  [
    "a name without its number",
    async (paths) => {
      await rename(paths[0]!, paths[0]!.replace("-00001-of-00003", ""));
      return paths[0]!.replace("-00001-of-00003", "");
    },
    "it must end in -00001-of-00003.gguf",
  ],
  [
    "a part of another model",
    async (paths) => {
      await writeFile(paths[2]!, encodeGguf(splitGguf(tinyBert(), 2)[1]!));
      return paths[0]!;
    },
    '"m-00003-of-00003.gguf" cannot be used: it is not part 3 of 3',
  ],
])("%s is named", async (_, spoil, message) => {
  const dir = await folder();
  const path = await spoil(await writeSplitGguf(dir, "m", tinyLlama(), 3));
  const error = await readGgufModel(path).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: "model_unavailable" });
  expect((error as Error).message).toContain(message);
});
