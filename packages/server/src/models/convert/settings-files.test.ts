import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "./__fixtures__/model-folder.js";
import { readSettings } from "./settings-file.js";

async function settingsFile(content: string | Uint8Array): Promise<Map<string, string>> {
  const path = join(await temporaryFolder(), "config.json");
  await writeFile(path, content);
  return new Map([["config.json", path]]);
}

test.each<[string, string | Uint8Array]>([
  ["is not JSON", "{"],
  ["is not JSON", ""],
  ["is a list, not an object", "[1]"],
  ["is null, not an object", "null"],
  ["is not text in UTF-8", Buffer.from([0x7b, 0xff, 0x7d])],
  ["nests or branches more", `{"a":${"[".repeat(100_000)}`],
  ["nests or branches more", `{"a":[${"[],".repeat(300_000)}[]]}`],
  ["more than the 1048576", `{"a":"${"x".repeat(1_100_000)}"}`],
])("a file of settings that is none is named: %s", async (expected, content) => {
  await expect(readSettings(await settingsFile(content), "config.json")).rejects.toMatchObject({
    code: "model_unavailable",
    message: expect.stringContaining(expected),
  });
});

test("brackets within texts do not count", async () => {
  const files = await settingsFile(JSON.stringify({ a: '["\\"'.repeat(1_000) }));
  expect((await readSettings(files, "config.json")).text("a")).toHaveLength(4_000);
});

test("a missing file, a folder and a link to nowhere are told apart", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "config.json"));
  await symlink(join(folder, "absent"), join(folder, "link"));
  const read = (path?: string) =>
    readSettings(new Map(path ? [["config.json", path]] : []), "config.json");
  await expect(read()).rejects.toThrow("config.json is missing");
  await expect(read(join(folder, "config.json"))).rejects.toThrow("is not a regular file");
  await expect(read(join(folder, "link"))).rejects.toThrow("does not exist");
});
