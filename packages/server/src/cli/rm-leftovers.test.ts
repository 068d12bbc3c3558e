import { lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startFakeHub } from "../../test/fake-hub/index.js";
import { encodeGguf, tinyLlama } from "../../test/gguf/index.js";
import { findInCatalog, openLibrary, readCatalog } from "../models/index.js";
import { type CliRun, runCli, temporaryFolder } from "./__fixtures__/cli.js";
import { addModel, modelsPlace } from "./__fixtures__/library.js";
import { slowFiles, startPull } from "./__fixtures__/slow-pull.js";

const NO_SERVER = ["--set", "server.port=1"];
const REPO = "owner/Tiny-GGUF";
const llama = encodeGguf(tinyLlama());

const isThere = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** A hub that sends files slowly and without their end until it is released, and a folder to pull into. */
async function openPlaces() {
  const { intercept, release } = slowFiles(llama);
  const hub = await startFakeHub({
    repositories: { [REPO]: { files: { "t-Q4_K_M.gguf": llama, "t-Q8_0.gguf": llama } } },
    intercept,
  });
  const place = await modelsPlace();
  const run = { cwd: place.cwd, env: hub.env };
  return { place, run, release, folder: join(place.modelsDir, "hub", REPO) };
}

async function stop(pull: CliRun) {
  pull.signal("SIGINT");
  expect(await pull.ended).toBe(130);
}

test("rm of one quantization leaves the stopped pull of another alone", async () => {
  const { run, folder } = await openPlaces();
  await stop(await startPull(`${REPO}:Q4_K_M`, run));
  const before = await readdir(folder);
  const other = await runCli(["rm", "-y", `${REPO}:Q8_0`, ...NO_SERVER], run);
  expect(other.code).toBe(1);
  expect(await readdir(folder)).toEqual(before);
  const own = await runCli(["rm", "-y", REPO, ...NO_SERVER], run);
  expect([own.code, own.out]).toEqual([0, expect.stringContaining(`${REPO}:Q4_K_M: what an`)]);
  expect(await isThere(folder)).toBe(false);
});

test("with a manifest that cannot be read nothing is deleted", async () => {
  const { place, run, release, folder } = await openPlaces();
  release();
  for (const quant of ["Q4_K_M", "Q8_0"]) await runCli(["pull", `${REPO}:${quant}`], run);
  const library = join(place.modelsDir, "library");
  const [first, second] = await readdir(library);
  await writeFile(join(folder, "notes.txt"), "mine");
  const before = await readdir(folder);
  await writeFile(join(library, first!), "{");
  const one = await runCli(["rm", "-y", `${REPO}:Q8_0`, ...NO_SERVER], run);
  expect([one.code, one.err]).toEqual([1, expect.stringContaining("nothing was removed")]);
  expect(one.err).toContain(first);
  await writeFile(join(library, second!), "{");
  expect((await runCli(["rm", "-y", `${REPO}:Q8_0`, ...NO_SERVER], run)).code).toBe(1);
  expect(await readdir(folder)).toEqual(before);
});

test("a file of the user's own under a name of the catalog is neither removed nor replaced", async () => {
  const place = await modelsPlace();
  const { variant } = findInCatalog(await readCatalog(), "smollm2:135m")!;
  const file = join(place.modelsDir, variant.files[0]!.file);
  await writeFile(file, "precious");
  const removed = await runCli(["rm", "-y", "smollm2:135m", ...NO_SERVER], place);
  expect(removed.code).toBe(1);
  const pulled = await runCli(["pull", "smollm2:135m"], place);
  expect([pulled.code, pulled.err]).toEqual([1, expect.stringContaining("is there already")]);
  // Beside it lies what a pull left.
  await writeFile(join(place.modelsDir, `.${variant.files[0]!.file}.part`), "some");
  const parts = await runCli(["rm", "-y", "smollm2:135m", ...NO_SERVER], place);
  expect([parts.code, parts.out]).toEqual([0, expect.stringContaining("4 B, is removed")]);
  expect(await readdir(place.modelsDir)).toEqual([variant.files[0]!.file]);
  expect(await readFile(file, "utf8")).toBe("precious");
});

test("a file of the user's own under a name of the hub is not replaced", async () => {
  const { run, release, folder } = await openPlaces();
  release();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "t-Q8_0.gguf"), "precious");
  const { code, err } = await runCli(["pull", `${REPO}:Q8_0`], run);
  expect([code, err]).toEqual([1, expect.stringContaining("was not fetched by Somnus")]);
  expect(await readFile(join(folder, "t-Q8_0.gguf"), "utf8")).toBe("precious");
});

test("what is being pulled is not removed", async () => {
  const { place, run, release, folder } = await openPlaces();
  const pull = await startPull(`${REPO}:Q8_0`, run);
  const { code, err } = await runCli(["rm", "-y", `${REPO}:Q8_0`, ...NO_SERVER], run);
  expect([code, err]).toEqual([
    1,
    expect.stringContaining(`pulled now, by process ${process.pid}`),
  ]);
  release();
  expect(await pull.ended).toBe(0);
  expect((await stat(join(folder, "t-Q8_0.gguf"))).size).toBe(llama.length);
  expect(await openLibrary(place.modelsDir).list()).toHaveLength(1);
  expect((await runCli(["rm", "-y", `${REPO}:Q8_0`, ...NO_SERVER], run)).code).toBe(0);
  expect(await readdir(place.modelsDir)).toEqual(["library"]);
});

test("what an interrupted conversion left can be removed", async () => {
  const place = await modelsPlace();
  const { variant } = findInCatalog(await readCatalog(), "all-minilm:l6-v2")!;
  const inputs = join(place.modelsDir, ".inputs", variant.files[0]!.file);
  await mkdir(inputs, { recursive: true });
  await writeFile(join(inputs, "model.safetensors"), "weights");
  const argv = ["rm", "-y", "all-minilm:l6-v2", ...NO_SERVER];
  const { code, out } = await runCli(argv, place);
  expect([code, out]).toEqual([0, expect.stringContaining("7 B, is removed")]);
  expect(await readdir(place.modelsDir)).toEqual([]);
  expect((await runCli(argv, place)).err).toContain("is not installed");
});

test("a link frees nothing", async () => {
  const place = await modelsPlace();
  const theirs = join(await temporaryFolder(), "theirs.gguf");
  const link = join(place.modelsDir, "tiny.gguf");
  await writeFile(theirs, "");
  await symlink(theirs, link);
  await addModel(place, "tiny", link);
  const { out } = await runCli(["rm", "tiny", "--json", ...NO_SERVER], place);
  expect(JSON.parse(out)).toMatchObject({ freed: 0, files: [link] });
  expect([await isThere(link), await isThere(theirs)]).toEqual([false, true]);
});

test("a manifest cannot have a file deleted that a link leads to", async () => {
  const place = await modelsPlace();
  const outside = await temporaryFolder();
  await symlink(outside, join(place.modelsDir, "lnk"));
  const size = await addModel(place, "tiny", join(outside, "x.gguf"), {
    files: [{ role: "weights", path: "lnk/x.gguf", size: 1, sha256: null, ours: true }],
  });
  expect((await runCli(["rm", "tiny", ...NO_SERVER], place)).code).toBe(0);
  expect((await stat(join(outside, "x.gguf"))).size).toBe(size);
});

test("a repository that is here in one quantization is told with it", async () => {
  const { run, release } = await openPlaces();
  release();
  await runCli(["pull", `${REPO}:Q8_0`], run);
  for (const argv of [
    ["show", REPO],
    ["rm", "-y", REPO, ...NO_SERVER],
  ]) {
    expect((await runCli(argv, run)).err).toContain(`There is ${REPO}:Q8_0.`);
  }
});
