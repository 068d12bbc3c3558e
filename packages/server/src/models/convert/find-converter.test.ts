import { expect, test } from "vitest";
import { modelFolder, temporaryFolder } from "./__fixtures__/model-folder.js";
import { type FolderContent, tinyBert } from "./__fixtures__/tiny-bert.js";
import { findConverter } from "./index.js";

test.each<[string, FolderContent, string | null]>([
  ["a sentence-transformers model", tinyBert(), "sentence-transformers-bert"],
  ["a plain BERT", { "config.json": { model_type: "bert" } }, "sentence-transformers-bert"],
  [
    "one on another encoder, so that its error says which",
    { "config.json": { model_type: "mpnet" }, "modules.json": [] },
    "sentence-transformers-bert",
  ],
  ["another model", { "config.json": { model_type: "llama" } }, null],
  ["a damaged description", { "config.json": Buffer.from("{") }, null],
  ["a description that is none", { "config.json": null }, null],
  ["an empty folder", {}, null],
])("%s is recognised by its folder", async (_, content, id) => {
  expect((await findConverter(await modelFolder(content)))?.id ?? null).toBe(id);
});

test("a folder that is not there has no converter", async () => {
  expect(await findConverter(`${await temporaryFolder()}/absent`)).toBeNull();
});
