import { describe, expect, it } from "vitest";
import type { RepositoryListing } from "../../artifacts/index.js";
import { chooseFiles } from "./choose.js";
import { parseHubSpec } from "./hub-spec.js";

function listing(paths: string[], more: Partial<RepositoryListing> = {}): RepositoryListing {
  return {
    repo: "owner/name",
    commit: "a".repeat(40),
    gated: false,
    license: null,
    files: paths.map((path, i) => ({ path, size: 1_000 + i, sha256: null })),
    fromCache: false,
    ...more,
  };
}

function choose(paths: string[], what = "", more: Partial<RepositoryListing> = {}) {
  const { model, projector, notes } = chooseFiles(
    listing(paths, more),
    parseHubSpec(`owner/name${what}`)!,
  );
  return { files: model.files.map(({ path }) => path), projector: projector?.path ?? null, notes };
}

function refusal(paths: string[], what = "", more: Partial<RepositoryListing> = {}): string {
  try {
    choose(paths, what, more);
  } catch (error) {
    expect(error).toMatchObject({ code: "model_unavailable" });
    return (error as Error).message;
  }
  throw new Error("it was not refused");
}

describe("without a quantization", () => {
  it("takes the usual one and names the others", () => {
    const { files, notes } = choose(["m-Q8_0.gguf", "m-Q4_K_M.gguf", "m-Q2_K.gguf", "README.md"]);
    expect(files).toEqual(["m-Q4_K_M.gguf"]);
    expect(notes).toEqual(["Q4_K_M is taken of 3 there (also Q2_K, Q8_0)."]);
  });

  it("takes the nearest when there is no usual one, and says so", () => {
    const { files, notes } = choose(["m-Q8_0.gguf", "m-Q5_K_M.gguf", "m-Q2_K.gguf"]);
    expect(files).toEqual(["m-Q5_K_M.gguf"]);
    expect(notes[0]).toMatch(/^owner\/name has no Q4_K_M: Q5_K_M is taken/);
  });

  it("takes the only one without a word, whatever it is called", () => {
    expect(choose(["ggml-model-i2_s.gguf", "x.safetensors"])).toEqual({
      files: ["ggml-model-i2_s.gguf"],
      projector: null,
      notes: [],
    });
  });

  it("takes a whole one before one with missing parts", () => {
    const { files } = choose(["m-Q4_K_M-00001-of-00002.gguf", "m-Q8_0.gguf"]);
    expect(files).toEqual(["m-Q8_0.gguf"]);
  });
});

describe("with a quantization", () => {
  const paths = ["m-Q4_K_M.gguf", "m-UD-Q4_K_XL.gguf", "m-f16.gguf"];

  it.each([
    [":q4_k_m", "m-Q4_K_M.gguf", []],
    [":F16", "m-f16.gguf", []],
    [":Q4_K_XL", "m-UD-Q4_K_XL.gguf", ["owner/name names it UD-Q4_K_XL."]],
  ])("takes %s", (what, file, notes) => {
    expect(choose(paths, what)).toEqual({ files: [file], projector: null, notes });
  });

  it("lists what there is when there is no such one", () => {
    const message = refusal(paths, ":Q4_K_N");
    expect(message).toContain('owner/name has no "Q4_K_N"');
    expect(message).toContain("Did you mean Q4_K_M?");
    expect(message).toContain("It has F16, Q4_K_M, UD-Q4_K_XL.");
  });

  it("takes all parts of a split model in their order", () => {
    const parts = [3, 1, 2].map((part) => `Q8_0/m-Q8_0-0000${part}-of-00003.gguf`);
    expect(choose([...parts, "m-Q4_0.gguf"], ":Q8_0").files).toEqual([...parts].sort());
  });

  it("refuses a split model that lacks a part", () => {
    expect(refusal(["m-Q8_0-00001-of-00003.gguf", "m-Q8_0-00003-of-00003.gguf"], ":Q8_0")).toMatch(
      /Q8_0 in parts, and 1 of them are missing/,
    );
  });

  it("takes the one nearest to the top, and asks when there are two", () => {
    expect(choose(["old/m-Q8_0.gguf", "m-Q8_0.gguf"], ":Q8_0").files).toEqual(["m-Q8_0.gguf"]);
    expect(refusal(["a/m-Q8_0.gguf", "b/m-Q8_0.gguf"], ":Q8_0")).toContain(
      "Name the file: owner/name:a/m-Q8_0.gguf, owner/name:b/m-Q8_0.gguf.",
    );
  });
});

describe("with a file", () => {
  const paths = ["a/m-Q8_0.gguf", "m-Q4_0-00001-of-00002.gguf", "m-Q4_0-00002-of-00002.gguf"];

  it("takes it by its path or its name, with all parts", () => {
    expect(choose(paths, ":a/m-Q8_0.gguf").files).toEqual(["a/m-Q8_0.gguf"]);
    expect(choose(paths, ":m-Q8_0.gguf").files).toEqual(["a/m-Q8_0.gguf"]);
    expect(choose(paths, ":m-Q4_0-00002-of-00002.gguf").files).toHaveLength(2);
  });

  it("names the nearest when it is not there", () => {
    expect(refusal(paths, ":a/m-Q8_1.gguf")).toContain("Did you mean owner/name:a/m-Q8_0.gguf?");
  });
});

describe("a projector", () => {
  it("comes with the model, in half precision where there are several", () => {
    const paths = ["m-Q4_K_M.gguf", "mmproj-F32.gguf", "mmproj-BF16.gguf", "mmproj-F16.gguf"];
    expect(choose(paths).projector).toBe("mmproj-F16.gguf");
    expect(choose(["m-Q4_K_M.gguf", "m-mmproj.gguf"]).projector).toBe("m-mmproj.gguf");
  });

  it("is that of the model's folder, else that of the top", () => {
    const paths = ["a/m-Q8_0.gguf", "a/mmproj-Q8_0.gguf", "b/m-Q4_0.gguf", "mmproj-F16.gguf"];
    expect(choose(paths, ":Q8_0").projector).toBe("a/mmproj-Q8_0.gguf");
    expect(choose(paths, ":Q4_0").projector).toBe("mmproj-F16.gguf");
  });

  it("alone is no model, and neither is an importance matrix", () => {
    expect(refusal(["mmproj-F16.gguf", "imatrix_unsloth.gguf"])).toMatch(/has no GGUF file/);
  });
});

describe("a repository without a model to run", () => {
  it("is described, with the way to make one of sentence-transformers", () => {
    const message = refusal(["model.safetensors", "modules.json", "onnx/model.onnx"]);
    expect(message).toContain("It has 1 safetensors, 1 ONNX files.");
    expect(message).toContain("somnus convert");
    expect(refusal(["a.safetensors", "b.safetensors"])).toMatch(
      /2 safetensors files\. Look on the hub/,
    );
    expect(refusal([])).toContain("It has 0 other files");
  });
});

describe("hostile names", () => {
  const bad = [
    "../m-Q4_K_M.gguf",
    "/m-Q4_K_M.gguf",
    "a/../../m-Q4_K_M.gguf",
    ".hidden-Q4_K_M.gguf",
    "a\\m-Q4_K_M.gguf",
    "C:m-Q4_K_M.gguf",
    "nul.gguf",
    "m-Q4_K_M\u0007.gguf",
    "m\u202e-Q4_K_M.gguf",
    `${"x".repeat(250)}-Q4_K_M.gguf`,
    "a/b/c/d/e/f/g/h/m-Q4_K_M.gguf",
    "folder./m-Q4_K_M.gguf",
  ];

  it.each(bad)("%j is never chosen", (path) => {
    expect(refusal([path])).toMatch(
      /no GGUF file of|has no GGUF file with a name that can be stored/,
    );
    expect(choose([path, "good-Q8_0.gguf"]).files).toEqual(["good-Q8_0.gguf"]);
  });

  it("that some file systems take for one another are not chosen", () => {
    const twins = ["m-Q4_K_M.gguf", "M-q4_k_m.gguf", "\u00e9-Q4_0.gguf", "e\u0301-Q4_0.gguf"];
    expect(choose([...twins, "m-Q8_0.gguf"]).files).toEqual(["m-Q8_0.gguf"]);
  });
});
