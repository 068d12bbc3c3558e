import { link, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLibrary } from "../models/index.js";
import { runCli, startCli, temporaryFolder } from "./__fixtures__/cli.js";
import { modelRow, openFakeDoor } from "./__fixtures__/fake-door.js";
import { addModel, modelsPlace } from "./__fixtures__/library.js";

/** A port that nobody serves on. */
const NO_SERVER = ["--set", "server.port=1"];

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

test("a model goes with its file and its manifest, and what it freed is told", async () => {
  const place = await modelsPlace();
  const file = join(place.modelsDir, "tiny.gguf");
  const size = await addModel(place, "tiny:1b", file);
  const { code, out, err } = await runCli(["rm", "tiny:1b", "--json", ...NO_SERVER], place);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(JSON.parse(out)).toEqual({
    ...{ event: "removed", id: "tiny:1b", quant: "F32", freed: size, files: [file], kept: [] },
  });
  expect(await isThere(file)).toBe(false);
  expect(await openLibrary(place.modelsDir).list()).toEqual([]);
  expect((await runCli(["rm", "tiny:1b", ...NO_SERVER], place)).code).toBe(1);
});

test("a file that is used in place stays", async () => {
  const place = await modelsPlace();
  const file = join(await temporaryFolder(), "theirs.gguf");
  await addModel(place, "theirs", file);
  const { code, out } = await runCli(["rm", "theirs", ...NO_SERVER], place);
  expect(code).toBe(0);
  expect(out).toBe(
    `theirs (F32) is removed: 0 B freed.\n  ${file} stays: it is used where it is.\n`,
  );
  expect(await isThere(file)).toBe(true);
  expect(await openLibrary(place.modelsDir).list()).toEqual([]);
});

test("a file that another model has too stays until that one goes", async () => {
  const place = await modelsPlace();
  const file = join(place.modelsDir, "tiny.gguf");
  await addModel(place, "one", file);
  const size = await addModel(place, "two", file);
  const first = await runCli(["rm", "one", ...NO_SERVER], place);
  expect(first.out).toContain(`${file} stays: two (F32) has it too.`);
  expect(await isThere(file)).toBe(true);
  const second = await runCli(["rm", "two", "--json", ...NO_SERVER], place);
  expect(JSON.parse(second.out)).toMatchObject({ freed: size });
  expect(await readdir(place.modelsDir)).toEqual(["library"]);
});

test("two models that share a file go together, and it is counted once", async () => {
  const place = await modelsPlace();
  const file = join(place.modelsDir, "tiny.gguf");
  await addModel(place, "one", file);
  const size = await addModel(place, "two", file);
  const { out } = await runCli(["rm", "one", "two", "--json", ...NO_SERVER], place);
  const freed = out
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { freed: number }).freed);
  expect(freed).toEqual([size, 0]);
  expect(await isThere(file)).toBe(false);
});

test("a file with another name besides frees nothing", async () => {
  const place = await modelsPlace();
  const file = join(place.modelsDir, "tiny.gguf");
  await addModel(place, "tiny", file);
  await link(file, join(place.cwd, "other-name.gguf"));
  const { out } = await runCli(["rm", "tiny", ...NO_SERVER], place);
  expect(out).toBe("tiny (F32) is removed: 0 B freed.\n");
});

test("a file of the user's own is not touched", async () => {
  const block = '[[models]]\nid = "mine"\nweights_path = "mine.gguf"\n';
  const place = await modelsPlace(block);
  const file = join(place.modelsDir, "mine.gguf");
  await writeFile(file, "12345");
  const { code, err } = await runCli(["rm", "mine", "--yes", ...NO_SERVER], place);
  expect(code).toBe(1);
  expect(err).toContain("mine is a file of your own, named by the configuration.");
  expect(err).toContain("[[models]]");
  expect(await isThere(file)).toBe(true);
});

test("a file that a block of the configuration names stays", async () => {
  const block = '[[models]]\nid = "mine"\nweights_path = "tiny.gguf"\n';
  const place = await modelsPlace(block);
  const file = join(place.modelsDir, "tiny.gguf");
  await addModel(place, "tiny:1b", file);
  const { out } = await runCli(["rm", "tiny:1b", ...NO_SERVER], place);
  expect(out).toContain(`${file} stays: mine has it too.`);
  expect(await isThere(file)).toBe(true);
});

test("what a server of this machine has loaded is refused", async () => {
  const place = await modelsPlace();
  const file = join(place.modelsDir, "tiny.gguf");
  await addModel(place, "tiny:1b", file);
  const door = await openFakeDoor();
  door.models = [modelRow("tiny:1b", { resident: true })];
  const { code, err } = await runCli(["rm", "tiny:1b", "--yes", "--url", door.url], place);
  expect(code).toBe(1);
  expect(err).toContain(`The server at ${door.url} has tiny:1b loaded.`);
  expect(err).toContain("somnus ps");
  expect(await isThere(file)).toBe(true);
  door.models = [modelRow("tiny:1b")];
  expect((await runCli(["rm", "tiny:1b", "--url", door.url], place)).code).toBe(0);
});

test("a terminal is asked first, and only yes removes", async () => {
  const place = await modelsPlace();
  const file = join(place.modelsDir, "tiny.gguf");
  await addModel(place, "tiny:1b", file);
  const answered = async (answer: string) => {
    const run = await startCli(["rm", "tiny:1b", ...NO_SERVER], { ...place, terminal: 100 });
    await run.err.shows("Remove? [y/N]");
    expect(run.err.text).toContain("tiny:1b (F32): 1 file");
    if (answer === "^C") run.signal("SIGINT");
    else if (answer === "^D") run.stdin.end();
    else run.stdin.write(`${answer}\n`);
    return run.ended;
  };
  for (const no of ["n", "", "yesterday", "^C", "^D"]) {
    expect(await answered(no)).toBe(130);
    expect(await isThere(file)).toBe(true);
  }
  expect(await answered("y")).toBe(0);
  expect(await isThere(file)).toBe(false);
});

test("one name of several that means nothing removes nothing", async () => {
  const place = await modelsPlace();
  const file = join(place.modelsDir, "tiny.gguf");
  await addModel(place, "tiny:1b", file);
  const { code, err } = await runCli(["rm", "tiny:1b", "tiny:1c", ...NO_SERVER], place);
  expect(code).toBe(1);
  expect(err).toContain('There is no model "tiny:1c".\n  Did you mean tiny:1b?');
  expect(await isThere(file)).toBe(true);
});
