import { mkdir, mkdtemp, readdir, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, Header } from "tar";
import { afterEach, beforeEach, expect, test } from "vitest";
import { unpackSources } from "./unpack-sources.js";

let folder: string;
let archive: string;
let into: string;
const signal = new AbortController().signal;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "somnus-test-"));
  archive = join(folder, "source.tar.gz");
  into = join(folder, "into");
  await mkdir(join(folder, "pkg", "inner", "docs"), { recursive: true });
  await mkdir(join(folder, "pkg", "inner", "src"));
  await writeFile(join(folder, "pkg", "wrapper.py"), "x");
  await writeFile(join(folder, "pkg", "inner", "top.txt"), "top");
  await writeFile(join(folder, "pkg", "inner", "docs", "a.md"), "a");
  await writeFile(join(folder, "pkg", "inner", "src", "a.c"), "a");
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const pack = () => create({ gzip: true, file: archive, cwd: folder }, ["pkg"]);
const unpack = (inside = "inner") => unpackSources(archive, inside, ["docs"], into, signal);

test("only the folder is unpacked, without its prefix and without what is left out", async () => {
  await pack();
  await unpack();
  expect((await readdir(into, { recursive: true })).sort()).toEqual(["src", "src/a.c", "top.txt"]);
});

test("a link in the folder is refused", async () => {
  await symlink("/etc", join(folder, "pkg", "inner", "src", "etc"));
  await pack();
  await expect(unpack()).rejects.toThrow(/pkg\/inner\/src\/etc is a SymbolicLink/);
});

test("a path that leads out is refused, and nothing is written there", async () => {
  const block = Buffer.alloc(512);
  const header = {
    path: "pkg/inner/../../escaped.txt",
    type: "File",
    size: 0,
    mode: 0o644,
  } as const;
  new Header(header).encode(block, 0);
  await writeFile(archive, Buffer.concat([block, Buffer.alloc(1024)]));
  await expect(unpack()).rejects.toMatchObject({ code: "model_unavailable" });
  expect(await readdir(folder)).not.toContain("escaped.txt");
});

test("a cut archive and one without the folder are errors", async () => {
  await pack();
  await expect(unpack("other")).rejects.toThrow(/it has no folder other/);
  await truncate(archive, 120);
  await expect(unpack()).rejects.toMatchObject({ code: "model_unavailable" });
});
