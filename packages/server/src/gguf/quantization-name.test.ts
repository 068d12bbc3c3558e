import { expect, test } from "vitest";
import { type GgufSource, tinyLlama, u32, withTemporaryFile } from "../../test/gguf/index.js";
import { readGguf } from "./index.js";

async function quantizationWith(fileType: number | null): Promise<string | null> {
  const source = tinyLlama();
  const metadata: GgufSource["metadata"] = [
    ...source.metadata.filter(([key]) => key !== "general.file_type"),
    ...(fileType === null ? [] : [["general.file_type", u32(fileType)] as const]),
  ];
  return withTemporaryFile({ ...source, metadata }, async (path) => {
    return (await readGguf(path)).quantization;
  });
}

test.each([
  [0, "F32"],
  [15, "Q4_K_M"],
  [3, "Q4_1"],
  [32, "BF16"],
  [38, "MXFP4_MOE"],
  [1024 + 17, "Q5_K_M"],
])("file type %i is %s", async (fileType, name) => {
  expect(await quantizationWith(fileType)).toBe(name);
});

test.each([null, 9999])(
  "with file type %s the type of most bytes is the name",
  async (fileType) => {
    expect(await quantizationWith(fileType)).toBe("F16");
  },
);
