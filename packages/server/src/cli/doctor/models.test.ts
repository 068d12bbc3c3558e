import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli, temporaryFolder } from "../__fixtures__/cli.js";
import { addModel, type ModelsPlace, modelsPlace } from "../__fixtures__/library.js";
import type { Finding } from "./finding.js";

async function modelsRow(place: ModelsPlace): Promise<Finding> {
  const { out } = await runCli(["doctor", "--json", "--set", "server.port=0"], place);
  const { findings } = JSON.parse(out) as { findings: Finding[] };
  return findings.find(({ check }) => check === "models")!;
}

test("a model of the library is one that can be served", async () => {
  const place = await modelsPlace();
  expect(await modelsRow(place)).toMatchObject({ state: "warn", found: "none installed" });
  await addModel(place, "tiny:1b", join(place.modelsDir, "tiny.gguf"));
  expect(await modelsRow(place)).toMatchObject({ state: "ok", found: "tiny:1b" });
});

test("one whose file is gone is told", async () => {
  const place = await modelsPlace();
  const file = join(await temporaryFolder(), "tiny.gguf");
  await addModel(place, "tiny:1b", file);
  await rm(file);
  expect(await modelsRow(place)).toMatchObject({
    state: "warn",
    found: `tiny:1b: there is no ${file}`,
    fix: expect.stringContaining("somnus rm tiny:1b"),
  });
});

test("a manifest that cannot be used is told", async () => {
  const place = await modelsPlace();
  await mkdir(join(place.modelsDir, "library"));
  await writeFile(join(place.modelsDir, "library", "tiny.json"), "{");
  expect(await modelsRow(place)).toMatchObject({
    state: "warn",
    found: expect.stringMatching(/^tiny\.json in .*: it is no JSON$/),
  });
});
