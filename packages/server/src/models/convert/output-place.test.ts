import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { convertFolder, modelFolder, temporaryFolder } from "./__fixtures__/model-folder.js";
import { tinyBert } from "./__fixtures__/tiny-bert.js";

test("an older file is replaced, and folders on the way are made", async () => {
  const folder = await modelFolder(tinyBert());
  const out = join(await temporaryFolder(), "a", "b", "model.gguf");
  const first = await convertFolder(folder, out, { type: "F32" });
  const second = await convertFolder(folder, out, { type: "Q8_0" });
  expect(second).toMatchObject({
    path: out,
    type: "Q8_0",
    converter: "sentence-transformers-bert",
  });
  expect(second.sha256).not.toBe(first.sha256);
  expect((await readFile(out)).length).toBe(second.size);
  expect(await readdir(join(out, ".."))).toEqual(["model.gguf"]);
});

test("another file than expected is not stored", async () => {
  const folder = await modelFolder(tinyBert());
  const place = await temporaryFolder();
  const out = join(place, "model.gguf");
  await writeFile(out, "older");
  const { size, sha256 } = await convertFolder(folder, join(await temporaryFolder(), "x.gguf"));
  for (const expected of [
    { size: size + 1, sha256 },
    { size, sha256: "0".repeat(64) },
  ]) {
    const converting = convertFolder(folder, out, { expected });
    await expect(converting).rejects.toThrow(/another file than expected/);
  }
  expect(await readFile(out, "utf8")).toBe("older");
  expect(await readdir(place)).toEqual(["model.gguf"]);
  expect(await convertFolder(folder, out, { expected: { size, sha256 } })).toMatchObject({
    sha256,
  });
});

test("drafts that a killed process left are removed, other files are not", async () => {
  const place = await temporaryFolder();
  const out = join(place, "model.gguf");
  const kept = ["model.gguf.draft", "other.gguf.0123456789ab.draft", "model.gguf.0123.draft"];
  for (const name of [...kept, "model.gguf.0123456789ab.draft"]) {
    await writeFile(join(place, name), "x");
  }
  await convertFolder(await modelFolder(tinyBert()), out);
  expect((await readdir(place)).sort()).toEqual([...kept, "model.gguf"].sort());
});

test("an output that cannot be stored is named, and nothing is left", async () => {
  const folder = await modelFolder(tinyBert());
  const place = await temporaryFolder();
  await writeFile(join(place, "file"), "");
  await mkdir(join(place, "taken", "within"), { recursive: true });
  for (const out of [join(place, "file", "model.gguf"), join(place, "taken")]) {
    await expect(convertFolder(folder, out)).rejects.toMatchObject({
      code: "model_unavailable",
      message: expect.stringContaining("cannot be stored in"),
    });
  }
  expect((await readdir(place)).sort()).toEqual(["file", "taken"]);
});

test.each<[string, { converter?: string; type?: string; out?: string; folder?: string }]>([
  ["There is no converter", { converter: "nothing" }],
  ["it makes F16, Q8_0, F32", { type: "Q4_K_M" }],
  ["would replace its own input", { out: "model.safetensors" }],
  ["folder to convert cannot be read", { folder: "absent" }],
])("a request that makes no sense is refused: %s", async (expected, change) => {
  const { folder = "", out = "model.gguf", ...more } = change;
  const model = await modelFolder(tinyBert());
  const converting = convertFolder(join(model, folder), join(model, out), more);
  await expect(converting).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining(expected),
  });
});
