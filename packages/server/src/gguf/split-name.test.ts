import { expect, it } from "vitest";
import { partName, splitName } from "./split-name.js";

it("tells which part a file is", () => {
  expect(splitName("a/b-00002-of-00010.gguf")).toEqual({
    prefix: "a/b",
    number: 2,
    count: 10,
    extension: ".gguf",
  });
  expect(splitName("b-00001-of-00001.GGUF")?.extension).toBe(".GGUF");
});

it.each([
  "b.gguf",
  "b-1-of-2.gguf",
  "-00001-of-00002.gguf",
  "b-00000-of-00002.gguf",
  "b-00003-of-00002.gguf",
  "b-00001-of-00002.bin",
])("is no part: %s", (name) => {
  expect(splitName(name)).toBeNull();
});

it("names the parts that it reads", () => {
  const { prefix, count, extension } = splitName("x/m-00001-of-00003.gguf")!;
  expect(partName(prefix, 3, count, extension)).toBe("x/m-00003-of-00003.gguf");
  expect(splitName(partName("m", 7, 12))).toMatchObject({ prefix: "m", number: 7, count: 12 });
});
