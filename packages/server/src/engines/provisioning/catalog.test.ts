import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CATALOG_FILE, defaultBuild, readCatalog } from "./catalog.js";

test("the shipped catalog is right, and its default build can be made from source", async () => {
  const { llama } = await readCatalog();
  const build = defaultBuild(llama);
  expect(build.number).toBe(llama.default_build);
  expect(build.source?.cmake_flags).toContain(`-DLLAMA_BUILD_NUMBER=${build.number}`);
});

test("a catalog that is broken, of another shape or without its default build is named", async () => {
  const folder = await mkdtemp(join(tmpdir(), "somnus-test-"));
  try {
    const file = join(folder, "broken.toml");
    const shipped = await readFile(CATALOG_FILE, "utf8");
    const refusal = async (content: string) => {
      await writeFile(file, content);
      const done = readCatalog(file).then(({ llama }) => defaultBuild(llama));
      return done.then(
        () => "accepted",
        (error: Error) => error.message,
      );
    };
    expect(await refusal("catalog_version = ")).toContain(file);
    expect(await refusal(shipped.replace("program =", "programme ="))).toMatch(/\/llama/);
    expect(await refusal(shipped.replace("default_build = 11434", "default_build = 7"))).toMatch(
      /has no build 7 of llama\.cpp; it has 11434/,
    );
    expect(await refusal(shipped)).toBe("accepted");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
