import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { NEEDED_FLAGS } from "../../llama/index.js";
import {
  type FakeCompiler,
  type FakeMachine,
  makeFakeMachine,
} from "../__fixtures__/fake-machine.js";
import { readCatalog } from "../catalog.js";
import { buildOrFallBack } from "../from-source.js";
import { findToolchain } from "../toolchain.js";
import { planBuild } from "./build-plan.js";

let machine: FakeMachine;
const signal = new AbortController().signal;

afterEach(() => machine.remove());

async function buildForCuda(compiler: FakeCompiler) {
  machine = await makeFakeMachine(compiler);
  const { options, root, cacheDir } = machine;
  const { env, log, artifacts } = options;
  const engine = (await readCatalog(options.catalogFile)).llama;
  const recipe = engine.builds[0]?.source;
  if (recipe === undefined) throw new Error("the test's catalog has no source");
  const trial = { neededFlags: NEEDED_FLAGS, processor: "p", env, log };
  const plan = planBuild(11434, recipe, ["cuda"], "p");
  const plain = planBuild(11434, recipe, [], "p");
  const build = {
    ...{ root, artifacts, trial, plan, name: engine.name, program: "llama-server" },
    archives: join(cacheDir, "sources"),
    toolchain: await findToolchain(env, signal),
  };
  const context = { options, engine, root, trial };
  const binary = await buildOrFallBack(build, plain, context, () => undefined, signal);
  return { binary, plan, plain };
}

test("a build that fails for an accelerator is made for the processor, aloud and once", async () => {
  const { binary, plan, plain } = await buildForCuda({
    fault: "error",
    faultNeeds: "-DGGML_CUDA=ON",
  });
  expect(binary.path).toBe(join(machine.root, plain.folder, "llama-server"));
  expect(await readdir(join(machine.root, "failed"))).toEqual([`${plan.folder}.json`]);
  expect(machine.logged.map(({ msg }) => msg).join("\n")).toContain("could not be built for cuda");
});

test("a build for an accelerator that works is used", async () => {
  const { binary, plan } = await buildForCuda({});
  expect(binary.path).toBe(join(machine.root, plan.folder, "llama-server"));
});
