import { expect, test } from "vitest";
import { defaultBuild, readCatalog, type SourceRecipe } from "../catalog.js";
import { featuresOfCpuinfo, hashOf } from "../processor.js";
import type { Accelerator } from "../toolchain.js";
import { planBuild } from "./build-plan.js";

async function recipeHere(): Promise<SourceRecipe> {
  const recipe = defaultBuild((await readCatalog()).llama).source;
  if (recipe === undefined) throw new Error("the default build has no source");
  return recipe;
}

test("the same build on the same processor has the same folder; any difference has another", async () => {
  const recipe = await recipeHere();
  const folder = (changes: Partial<SourceRecipe>, processor = "a", cuda = false) =>
    planBuild(11434, { ...recipe, ...changes }, cuda ? ["cuda"] : [], processor).folder;
  expect(folder({})).toBe(folder({}));
  expect(folder({})).toMatch(/^11434-[a-z0-9]+-[a-z0-9]+-[0-9a-f]{12}$/);
  const others = [
    folder({ cmake_flags: [...recipe.cmake_flags, "-DX=1"] }),
    folder({ sha256: "0".repeat(64) }),
    folder({}, "b"),
    folder({}, "a", true),
  ];
  expect(new Set([folder({}), ...others]).size).toBe(5);
});

test("each accelerator has its flag, which nothing else has", async () => {
  const recipe = await recipeHere();
  const flags = (accelerators: Accelerator[], system?: NodeJS.Platform) =>
    planBuild(1, recipe, accelerators, "a", system).cmakeFlags.slice(recipe.cmake_flags.length);
  expect(flags(["cuda"])).toEqual(["-DGGML_CUDA=ON"]);
  expect(flags(["rocm"])).toEqual(["-DGGML_HIP=ON"]);
  expect(flags(["vulkan"])).toEqual(["-DGGML_VULKAN=ON"]);
  expect(flags([], "linux")).toEqual([]);
});

test("on a Mac Metal is on where it is wanted and off everywhere else", async () => {
  const recipe = await recipeHere();
  const plan = (accelerators: Accelerator[]) => planBuild(1, recipe, accelerators, "a", "darwin");
  expect(plan(["metal"]).cmakeFlags).toContain("-DGGML_METAL=ON");
  expect(plan(["metal"]).cmakeFlags).toContain("-DGGML_METAL_EMBED_LIBRARY=ON");
  expect(plan([]).cmakeFlags).toContain("-DGGML_METAL=OFF");
  expect(plan([]).folder).not.toBe(plan(["metal"]).folder);
});

test("processor features are read on x86 and ARM, in one order, each once", () => {
  const x86 = "processor : 0\nflags\t\t: sse avx2 avx sse\n\nprocessor : 1\nflags\t\t: other\n";
  expect(featuresOfCpuinfo(x86)).toEqual(["avx", "avx2", "sse"]);
  expect(featuresOfCpuinfo("Features\t: asimd fp\n")).toEqual(["asimd", "fp"]);
  expect(featuresOfCpuinfo("")).toEqual([]);
  expect(hashOf(["a", "b"])).not.toBe(hashOf(["ab"]));
});
