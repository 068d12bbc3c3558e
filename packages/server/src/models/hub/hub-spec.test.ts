import { expect, it } from "vitest";
import { parseHubSpec } from "./hub-spec.js";

const plain = { repo: "owner/name", revision: null, quant: null, path: null };

it.each([
  ["owner/name", plain],
  [" owner/name ", plain],
  ["hf.co/owner/name", plain],
  ["https://huggingface.co/owner/name", plain],
  ["https://huggingface.co/owner/name/", plain],
  ["https://huggingface.co/owner/name?library=llama-cpp#files", plain],
  ["owner/name:Q4_K_M", { ...plain, quant: "Q4_K_M" }],
  ["hf.co/owner/name:UD-IQ2_XXS", { ...plain, quant: "UD-IQ2_XXS" }],
  ["owner/name:model.Q8_0.gguf", { ...plain, path: "model.Q8_0.gguf" }],
  ["owner/name:sub/model-00001-of-00002.GGUF", { ...plain, path: "sub/model-00001-of-00002.GGUF" }],
  ["owner/name@v1.0", { ...plain, revision: "v1.0" }],
  ["owner/name@refs/pr/3:Q8_0", { ...plain, revision: "refs/pr/3", quant: "Q8_0" }],
  ["https://huggingface.co/owner/name/tree/main", { ...plain, revision: "main" }],
  [
    "https://huggingface.co/owner/name/blob/main/a%20folder/m.gguf",
    { ...plain, revision: "main", path: "a folder/m.gguf" },
  ],
  [
    "https://huggingface.co/owner/name/resolve/v2/m.gguf?download=true",
    { ...plain, revision: "v2", path: "m.gguf" },
  ],
])("reads %s", (text, spec) => {
  expect(parseHubSpec(text)).toEqual(spec);
});

it.each([
  "qwen2.5-coder:0.5b",
  "name",
  "",
  "a/b/c",
  "/name",
  "owner/",
  "../name",
  "./name",
  "owner/name with space",
  "https://example.org/owner/name",
  "https://huggingface.co/owner",
  "https://huggingface.co/owner/name/resolve/main/%zz.gguf",
])("takes %j for no repository of the hub", (text) => {
  expect(parseHubSpec(text)).toBeNull();
});
