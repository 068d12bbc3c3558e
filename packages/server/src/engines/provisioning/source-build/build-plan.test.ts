import { expect, test } from "vitest";
import { defaultBuild, readCatalog, type SourceRecipe } from "../catalog.js";
import { featuresOfCpuinfo, hashOf } from "../processor.js";
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

test("Metal needs no flag, so it changes nothing", async () => {
  const recipe = await recipeHere();
  expect(planBuild(1, recipe, ["metal"], "a")).toEqual(planBuild(1, recipe, [], "a"));
});

test("processor features are read on x86 and ARM, in one order, each once", () => {
  const x86 = "processor : 0\nflags\t\t: sse avx2 avx sse\n\nprocessor : 1\nflags\t\t: other\n";
  expect(featuresOfCpuinfo(x86)).toEqual(["avx", "avx2", "sse"]);
  expect(featuresOfCpuinfo("Features\t: asimd fp\n")).toEqual(["asimd", "fp"]);
  expect(featuresOfCpuinfo("")).toEqual([]);
  expect(hashOf(["a", "b"])).not.toBe(hashOf(["ab"]));
});
