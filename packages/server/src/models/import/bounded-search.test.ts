import { chmod, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { emptyHome, gguf, put, search } from "./__fixtures__/tools.js";
import { folderProblem, walkFiles } from "./walk.js";

const signal = new AbortController().signal;
const all = () => true;

test("folders that link to each other are entered once", async () => {
  const home = await emptyHome();
  const models = join(home, ".lmstudio", "models");
  await put(join(models, "a", "m", "m-Q4_0.gguf"), gguf("llama"));
  await symlink(models, join(models, "a", "up"));
  await symlink(join(models, "a"), join(models, "b"));
  const walked = await walkFiles(models, all, signal);
  expect(walked).toEqual({ files: [join(models, "a", "m", "m-Q4_0.gguf")], problems: [] });
});

test("a model behind a linked folder is found", async () => {
  const home = await emptyHome();
  await put(join(home, "disk", "m", "m-Q4_0.gguf"), gguf("llama"));
  await mkdir(join(home, ".lmstudio", "models"), { recursive: true });
  await symlink(join(home, "disk"), join(home, ".lmstudio", "models", "owner"));
  const { models } = await search(home);
  expect(models.map(({ name }) => name)).toEqual(["owner/m:Q4_0"]);
});

test("depth and number of entries are bounded, and it is said", async () => {
  const root = await mkdtemp(join(tmpdir(), "somnus-walk-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (let i = 0; i < 20; i++) await put(join(root, `file-${i}`), "");
  await put(join(root, "x", "y", "z", "deep"), "");
  const deep = await walkFiles(root, all, signal, { maxDepth: 2, maxEntries: 1_000 });
  expect(deep.files).toHaveLength(20);
  expect(deep.problems).toEqual([
    { path: join(root, "x", "y", "z"), problem: expect.stringContaining("too deep") },
  ]);
  const many = await walkFiles(root, all, signal, { maxDepth: 9, maxEntries: 10 });
  expect(many.files).toHaveLength(10);
  expect(many.problems).toEqual([{ path: root, problem: expect.stringContaining("more than 10") }]);
});

test("a search ends where it is when it is cancelled", async () => {
  const home = await emptyHome();
  await put(join(home, ".lmstudio", "models", "a", "b", "b-Q4_0.gguf"), gguf("llama"));
  const reason = new Error("enough");
  await expect(search(home, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await expect(walkFiles(home, all, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test.each([
  ["EACCES", "This user may not read the folder."],
  ["ELOOP", "It is a symbolic link that leads to itself."],
  ["EIO", "The folder cannot be read (EIO)."],
  ["ENOENT", null],
])("a folder that fails with %s", (code, problem) => {
  expect(folderProblem(Object.assign(new Error(code), { code }))).toBe(problem);
});

test("an unreadable folder is named and the rest still found", async () => {
  const home = await emptyHome();
  const models = join(home, ".lmstudio", "models");
  await put(join(models, "a", "m", "m-Q4_0.gguf"), gguf("llama"));
  await put(join(models, "closed", "m", "m-Q8_0.gguf"), gguf("llama", "closed"));
  await chmod(join(models, "closed"), 0);
  onTestFinished(() => chmod(join(models, "closed"), 0o755));
  const { models: found, problems } = await search(home);
  expect(found.map(({ name }) => name)).toContain("a/m:Q4_0");
  // The administrator reads everything.
  const closed = { tool: "lm-studio", path: join(models, "closed"), problem: expect.any(String) };
  expect(problems).toEqual(process.getuid?.() === 0 ? [] : [closed]);
});

test.each([
  ["an empty file", new Uint8Array(0), /empty/],
  ["a web page", Buffer.from("<!DOCTYPE html><html>"), /web page/],
  ["a Git LFS pointer", Buffer.from("version https://git-lfs.github.com/spec/v1\n"), /LFS/],
  ["a model that is cut short", gguf("llama").subarray(0, 500_000), /cut short/],
  ["lying lengths", Buffer.from(`GGUF${"\x03\0\0\0"}${"\xff".repeat(64)}`, "latin1"), /./],
])("%s is named and passed over", async (_, content, problem) => {
  const home = await emptyHome();
  const path = await put(join(home, ".lmstudio", "models", "a", "b", "b-Q4_0.gguf"), content);
  const { models, problems } = await search(home);
  expect(models).toEqual([]);
  expect(problems).toEqual([{ tool: "lm-studio", path, problem: expect.stringMatching(problem) }]);
});
