import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeTinyLlama, writeTinyMoe } from "../../test/gguf/index.js";
import type { LoadEstimate } from "../load-estimate.js";
import { readCatalog } from "../models/index.js";
import { runCli } from "./__fixtures__/cli.js";
import { addModel, modelsPlace } from "./__fixtures__/library.js";

/** No engine is looked for outside of the test's folders. */
const alone = (cwd: string) => ({ cwd, env: { PATH: "" } });

test("a file is placed on a made-up GPU, and nothing is loaded", async () => {
  const { cwd } = await modelsPlace();
  await writeTinyMoe(join(cwd, "tiny.gguf"));
  const { code, out, err } = await runCli(
    ["estimate", "./tiny.gguf", "--gpu", "24GiB", "--ctx", "1024", "--slots", "2"],
    alone(cwd),
  );
  expect(err).toBe("");
  expect(code).toBe(0);
  expect(out).toContain("tiny can be loaded: All 2 layers are on Simulated GPU.");
  expect(out).toMatch(/context: +1024 tokens, 2 slots/);
  expect(out).toMatch(/machine: +Simulated GPU \(simulated\)/);
  expect(out).toMatch(/free for models: 24 GiB of Simulated GPU, /);
  expect(out).toMatch(/engine: +none yet; what it will compute with is assumed/);
});

test("what is missing is told with its numbers, and with exit status 1", async () => {
  const { cwd } = await modelsPlace();
  await writeTinyLlama(join(cwd, "tiny.gguf"));
  const argv = ["estimate", "tiny.gguf", "--gpu=0", "--ram=100MiB", "--json"];
  const { code, out } = await runCli(argv, alone(cwd));
  expect(code).toBe(1);
  const { plan, machine } = JSON.parse(out) as LoadEstimate;
  expect(plan).toMatchObject({ fits: false, placement: null });
  expect(plan.reason).toMatch(/needs .* of host memory, but .* is free/);
  expect(machine).toMatchObject({ simulated: true, accelerator: "Cpu", host: { free_bytes: 0 } });
});

test("an installed model is estimated, also one that the configuration does not name", async () => {
  const place = await modelsPlace('[[models]]\nid = "own"\nweights_path = "own.gguf"\nslots = 3\n');
  await addModel(place, "tiny:1b", join(place.modelsDir, "tiny.gguf"));
  await writeTinyLlama(join(place.modelsDir, "own.gguf"));
  for (const [id, slots] of [
    ["own", 3],
    ["tiny:1b", 4],
  ] as const) {
    const { code, out } = await runCli(["estimate", id, "--json"], alone(place.cwd));
    expect(code).toBe(0);
    const { model, plan, machine } = JSON.parse(out) as LoadEstimate;
    expect([model, plan.placement?.slots, machine.simulated]).toEqual([id, slots, false]);
  }
});

test("what cannot be estimated is told with what to do", async () => {
  const place = await modelsPlace();
  const file = join(place.modelsDir, "tiny.gguf");
  await addModel(place, "tiny:1b", file);
  const estimate = async (...argv: string[]) => {
    const { code, out, err } = await runCli(["estimate", ...argv], alone(place.cwd));
    expect([code, out]).toEqual([1, ""]);
    return err;
  };
  expect(await estimate("tiny:2b")).toContain("tiny:1b");
  expect(await estimate("tiny:1b", "--ctx", "99999999")).toMatch(/context of \d+ tokens at most/);
  expect(await estimate("none.gguf")).toMatch(/There is no file .*none\.gguf/);
  const [listed] = (await readCatalog()).models;
  expect(await estimate(listed!.id)).toContain(`somnus pull ${listed!.id}`);
  await writeFile(file, "no model at all");
  expect(await estimate("tiny:1b")).toContain("not a GGUF file");
  await rm(file);
  expect(await estimate("tiny:1b")).toContain("somnus pull tiny:1b");
});

test.each([
  ["--gpu", "24 apples", "24GiB, 512MiB or in bytes"],
  ["--ctx", "2k", "whole number of tokens"],
  ["--slots", "0", "whole number of requests"],
])("%s %s is not understood", async (option, value, message) => {
  const { code, err } = await runCli(["estimate", "m", option, value]);
  expect(code).toBe(2);
  expect(err).toContain(message);
});
