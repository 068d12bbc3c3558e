import { expect, it } from "vitest";
import { engineFiles } from "./engine-files.js";

it("names all parts of split weights, and the projector", () => {
  const split = { weightsPath: "/m/big-00001-of-00003.gguf", projectorPath: "/m/mmproj.gguf" };
  expect(engineFiles(split)).toEqual([
    "/m/big-00001-of-00003.gguf",
    "/m/big-00002-of-00003.gguf",
    "/m/big-00003-of-00003.gguf",
    "/m/mmproj.gguf",
  ]);
  expect(engineFiles({ weightsPath: "/m/small.gguf", projectorPath: null })).toEqual([
    "/m/small.gguf",
  ]);
});
