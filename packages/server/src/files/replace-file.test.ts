import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readJson, replaceJson } from "./index.js";

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "somnus-files-"));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

it("replaces a file whole, in a folder that it makes, and leaves no draft", async () => {
  const path = join(await folder(), "new", "note.json");
  await replaceJson(path, { a: 1 });
  await replaceJson(path, { a: 2 });
  expect(await readJson(path)).toEqual({ a: 2 });
  expect(await readFile(path, "utf8")).toBe('{\n  "a": 2\n}\n');
  expect(await readdir(join(path, ".."))).toEqual(["note.json"]);
});

it("leaves what stood there, and no draft, when it cannot be replaced", async () => {
  const made = await folder();
  await replaceJson(join(made, "taken", "inside.json"), 1);
  await expect(replaceJson(join(made, "taken"), 2)).rejects.toThrow();
  expect(await readdir(made)).toEqual(["taken"]);
});

it("reads nothing where there is none, or it is broken or no file, and says why it could not", async () => {
  const made = await folder();
  const said: string[] = [];
  const note = (reason: string) => said.push(reason);
  expect(await readJson(join(made, "none.json"), note)).toBeNull();
  await writeFile(join(made, "broken.json"), '{"a":');
  expect(await readJson(join(made, "broken.json"), note)).toBeNull();
  expect(said).toEqual([]);
  expect(await readJson(made, note)).toBeNull();
  expect(said).toEqual(["it is not a regular file"]);
});
