import { rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "./__fixtures__/cli.js";
import { addModel, modelsPlace } from "./__fixtures__/library.js";

test("a library that cannot be read is an error, not an empty one", async () => {
  const place = await modelsPlace();
  await writeFile(join(place.modelsDir, "library"), "no folder");
  const { code, out, err } = await runCli(["list"], place);
  expect([code, out]).toEqual([1, ""]);
  expect(err).toContain(`The library of models in ${join(place.modelsDir, "library")} cannot be`);
});

test("a models folder that is a file or a link to nowhere is an error", async () => {
  const place = await modelsPlace();
  await rm(place.modelsDir, { recursive: true });
  await symlink(join(place.cwd, "nowhere"), place.modelsDir);
  expect((await runCli(["list"], place)).code).toBe(1);
  await rm(place.modelsDir);
  await writeFile(place.modelsDir, "");
  expect((await runCli(["list"], place)).code).toBe(1);
  await rm(place.modelsDir);
  expect((await runCli(["list"], place)).out).toContain("No model is installed.");
});

test("pulling a model of the catalog whose id another model has is refused", async () => {
  const place = await modelsPlace();
  await addModel(place, "smollm2:135m", join(place.modelsDir, "own.gguf"));
  const { code, err } = await runCli(["pull", "smollm2:135m"], place);
  expect([code, err]).toEqual([1, expect.stringContaining("There is another model smollm2:135m")]);
});
