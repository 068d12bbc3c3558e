import { readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  gguf,
  ggufOf,
  ggufPart,
  put,
  putOllama,
  putRepository,
} from "../models/import/__fixtures__/tools.js";
import { type Discovery, openLibrary } from "../models/index.js";
import { runCli, startCli, temporaryFolder } from "./__fixtures__/cli.js";

const OLLAMA = join(".ollama", "models");
const LIBRARY = "registry.ollama.ai/library";

/** A home folder, and this command line for the user whose home it is. */
async function user() {
  const home = await temporaryFolder();
  const modelsDir = join(home, "ours");
  // With this set, a service of this machine is not looked at.
  const OLLAMA_MODELS = join(home, OLLAMA);
  const env = { HOME: home, SOMNUS_POOL_MODELS_DIR: modelsDir, OLLAMA_MODELS };
  return {
    ...{ home, modelsDir, env },
    library: openLibrary(modelsDir),
    somnus: (...argv: string[]) => runCli(["import", ...argv], { env, cwd: home }),
  };
}

const layers = (name: string) => [{ kind: "model", content: gguf("llama", name) }];

test("without a name it lists what there is, each model once, and takes nothing", async () => {
  const { home, somnus } = await user();
  await putOllama(join(home, OLLAMA), `${LIBRARY}/llama3.2/3b`, layers("a"));
  const cache = join(home, ".cache", "huggingface", "hub");
  await putRepository(cache, "owner/m", { "m-Q4_0.gguf": gguf("llama", "a") });
  await putOllama(join(home, OLLAMA), `${LIBRARY}/gemma3/4b`, [
    { kind: "model", content: ggufOf("gemma3") },
  ]);
  await put(join(home, ".lmstudio", "models", "a", "b", "b.gguf"), "<!DOCTYPE html>");
  const { code, out, err } = await somnus();
  expect(code).toBe(0);
  expect(out).toMatch(
    /^owner\/m:Q4_0 +hugging-face +\d+ kB +Q4_0 +llama +found +also ollama llama3\.2:3b$/m,
  );
  expect(out).toMatch(/^gemma3:4b .*untested/m);
  expect(err).toMatch(/passed over: lm-studio .*b\.gguf: .*web page/);
  expect(await readdir(home)).not.toContain("ours");
  const json = JSON.parse((await somnus("--json")).out) as Discovery;
  expect(json.models.map(({ name }) => name)).toEqual(["gemma3:4b", "owner/m:Q4_0"]);
  expect(json.problems).toHaveLength(1);
});

test("a model is imported by any of its names, with the files that this name means", async () => {
  const { home, library, somnus } = await user();
  await putOllama(join(home, OLLAMA), `${LIBRARY}/llama3.2/latest`, layers("a"));
  const cache = join(home, ".cache", "huggingface", "hub");
  await putRepository(cache, "owner/m", { "m-Q4_0.gguf": gguf("llama", "a") });
  const { code, out } = await somnus("llama3.2:latest");
  expect(code).toBe(0);
  expect(out).toMatch(/llama3\.2 \(F16, .*\) is imported, used where it is: .*blobs/);
  expect(await library.find("llama3.2")).toMatchObject({ origin: { tool: "ollama" } });
  expect((await somnus()).out).toMatch(/owner\/m:Q4_0 .*here as llama3\.2/);
  const again = await somnus("owner/m");
  expect([again.code, again.out]).toEqual([0, expect.stringContaining("is already here")]);
});

test("--all goes on where one fails, and says so", async () => {
  const { home, library, somnus } = await user();
  // Under blob names, which is nothing for use in place.
  const parts = [1, 2].map((number) => ({ kind: "model", content: ggufPart(number, 2) }));
  await putOllama(join(home, OLLAMA), `${LIBRARY}/a-large/70b`, parts);
  await putOllama(join(home, OLLAMA), `${LIBRARY}/small/latest`, layers("small"));
  const { code, out } = await somnus("--all");
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(/a-large:70b is in several parts.*--link/),
  ]);
  expect((await library.list()).map(({ id }) => id)).toEqual(["small"]);
});

test("--all takes all but those that are here", async () => {
  const { home, modelsDir, library, somnus } = await user();
  for (const name of ["one", "two"]) {
    await putOllama(join(home, OLLAMA), `${LIBRARY}/${name}/latest`, layers(name));
  }
  await somnus("one");
  const { code, out } = await somnus("--all", "--link", "--json");
  expect(code).toBe(0);
  const events = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.filter(({ event }) => event === "done")).toMatchObject([
    { id: "two", manner: "link", tool: "ollama" },
  ]);
  expect((await library.list()).map(({ id }) => id)).toEqual(["one", "two"]);
  expect(await readdir(modelsDir)).toContain("two.gguf");
  expect((await somnus("--all")).out).toContain("There is nothing to import.");
});

test("a file is imported by its path, with an id and a projector", async () => {
  const { home, library, somnus } = await user();
  await put(join(home, "Downloads", "see-Q4_K_M.gguf"), gguf("llama"));
  await put(join(home, "Downloads", "mmproj.gguf"), gguf("projector"));
  const { code, out } = await somnus(
    ...["Downloads/see-Q4_K_M.gguf", "--id", "see:1b", "--mmproj", "Downloads/mmproj.gguf"],
  );
  expect([code, out]).toEqual([0, expect.stringContaining("somnus run see:1b")]);
  expect(await library.find("see:1b")).toMatchObject({
    ...{ quant: "Q4_K_M", additional_modalities: ["vision"] },
    origin: { type: "import", tool: "file", location: join(home, "Downloads", "see-Q4_K_M.gguf") },
  });
  const wrong = await somnus("Downloads/see-Q4_K_M.gguf", "--mmproj", "Downloads/see-Q4_K_M.gguf");
  expect(wrong.code).toBe(1);
});

test("an embedding model is not offered to chat with", async () => {
  const { home, somnus } = await user();
  await put(join(home, "e.gguf"), gguf("bert"));
  const { out } = await somnus("e.gguf");
  expect(out).toMatch(/e:F16 \(F16, .*\) is imported/);
  expect(out).not.toContain("somnus run");
});

test.each<[string, string[], number, RegExp]>([
  ["an unknown name", ["lama3.2:3b"], 1, /No other program has a model.*\n.*mean llama3\.2:3b/],
  ["a file that is not there", ["gone.gguf"], 1, /There is no file .*gone\.gguf/],
  ["a folder", ["."], 1, /is a folder.*\n.*convert/],
  ["a file that is no model", ["notes.txt"], 1, /notes\.txt.*not a GGUF file/],
  ["--all with a name", ["--all", "x"], 2, /--all takes every model/],
  ["--link with --copy", ["x", "--link", "--copy"], 2, /exclude each other/],
  ["--id for several", ["x", "y", "--id", "z"], 2, /--id goes with one/],
  ["an id that cannot be one", ["x", "--id", "a b"], 2, /The id "a b" must/],
])("%s is refused with advice", async (_, argv, status, message) => {
  const { home, somnus, library } = await user();
  await putOllama(join(home, OLLAMA), `${LIBRARY}/llama3.2/3b`, layers("a"));
  await put(join(home, "notes.txt"), "These are no weights, but notes.");
  const { code, err } = await somnus(...argv);
  expect([code, err]).toEqual([status, expect.stringMatching(message)]);
  expect(await library.list()).toEqual([]);
});

test("an id that another model has is not given twice", async () => {
  const { home, library, somnus } = await user();
  await put(join(home, "own.gguf"), gguf("llama", "own"));
  await somnus("own.gguf", "--id", "llama3.2:3b");
  await putOllama(join(home, OLLAMA), `${LIBRARY}/llama3.2/3b`, layers("a"));
  const refused = await somnus("llama3.2:3b", "--id", "llama3.2:3b");
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("another model")]);
  await somnus("llama3.2:3b");
  const ids = (await library.list()).map(({ id }) => id);
  expect(ids).toEqual(["llama3.2:3b", "llama3.2:3b-ollama"]);
});

test("names from the disk cannot steer the terminal", async () => {
  const { home, somnus } = await user();
  const models = join(home, ".lmstudio", "models");
  await put(join(models, "a\u001b[31m", "m\nx", "m-Q4_0.gguf"), gguf("llama"));
  await put(join(models, "b", "c", "\u001b[2Jbad.gguf"), "");
  const { out, err } = await somnus();
  expect(out + err).not.toContain("\u001b");
  expect(out).toContain("a[31m/m");
});

test("with none there it says where it looked", async () => {
  const { home, somnus } = await user();
  await put(join(home, OLLAMA, "blobs", ".keep"), "");
  const { out } = await somnus();
  expect(out).toContain("No other program has a model here");
  expect(out).toContain(join(home, OLLAMA));
});

test("Ctrl-C ends a search", async () => {
  const { home, env } = await user();
  const models = join(home, ".lmstudio", "models", "a", "b");
  await put(join(models, "0.gguf"), gguf("llama"));
  for (let i = 1; i < 400; i++) await symlink(join(models, "0.gguf"), join(models, `${i}.gguf`));
  const run = await startCli(["import"], { env });
  while (!run.listens("SIGINT")) await new Promise((resolve) => setImmediate(resolve));
  run.signal("SIGINT");
  expect(await run.ended).toBe(130);
  expect(run.out.text).toBe("");
});
