import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileOf, never, temporaryFolder, testKeeper } from "./__fixtures__/keeper.js";

async function programOf(code: string): Promise<string> {
  const path = join(await temporaryFolder(), "program.mjs");
  await writeFile(path, code);
  return path;
}

it.each([
  ["ends with status 3", `console.error("no such luck"); process.exit(3)`, "no such luck"],
  [
    "speaks another version",
    `process.send({ type: "hello", version: 99 }); setInterval(() => {}, 1000)`,
    "another version",
  ],
])("a keeper that %s is tried a few times, then the file is refused", async (_, code, why) => {
  const { keeper } = testKeeper(await programOf(code));
  const path = await fileOf(4096);
  for (let round = 0; round < 2; round++) {
    await expect(keeper.keep(path, { signal: never })).rejects.toMatchObject({
      code: "engine_failed",
      message: expect.stringContaining(why),
    });
  }
  expect(await keeper.status()).toEqual([]);
});

it("a file that ends the process each time is given up, and no other is harmed", async () => {
  const program = await programOf(`
    process.on("disconnect", () => process.exit(0));
    process.on("message", (message) => {
      if (message.type === "measure") process.send({ type: "measured", request: message.request, files: [] });
      if (message.type !== "keep") return;
      if (message.path.endsWith("bad.gguf")) process.kill(process.pid, "SIGSEGV");
      const measured = { residentBytes: 1, lockedBytes: 1, unlockedBecause: null };
      process.send({ type: "kept", id: message.id, measured });
    });
    process.send({ type: "hello", version: 1, means: "mapped", meansBecause: null });`);
  const { keeper } = testKeeper(program);
  const good = await fileOf(4096);
  await keeper.keep(good, { signal: never });
  const bad = keeper.keep(await fileOf(4096, "bad.gguf"), { signal: never });
  await expect(bad).rejects.toMatchObject({
    code: "engine_failed",
    message: expect.stringContaining("SIGSEGV"),
  });
  await expect(keeper.keep(good, { signal: never })).resolves.toMatchObject({ holders: 2 });
  expect(keeper.summary().deaths).toBe(3);
});
