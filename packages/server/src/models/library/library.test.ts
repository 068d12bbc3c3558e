import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { manifestOf } from "./__fixtures__/manifest.js";
import { type Library, libraryFilePath, openLibrary } from "./index.js";

let modelsDir: string;
let library: Library;
beforeEach(async () => {
  modelsDir = await mkdtemp(join(tmpdir(), "somnus-library-"));
  library = openLibrary(modelsDir);
});
afterEach(() => rm(modelsDir, { recursive: true, force: true }));

describe("a library", () => {
  it("without a folder is empty, and makes none for that", async () => {
    expect(await library.list()).toEqual([]);
    expect(await library.broken()).toEqual([]);
    expect(await library.find("x")).toBeNull();
    expect(await library.remove("x")).toBe(false);
    expect(await readdir(modelsDir)).toEqual([]);
  });

  it("holds what was added, in place of what was there under the id, and nothing beside it", async () => {
    await library.add(manifestOf("b/b:Q8_0"));
    await library.add(manifestOf("a/a:Q8_0", { license: "mit" }));
    await library.add(manifestOf("a/a:Q8_0", { license: "apache-2.0" }));
    const other = openLibrary(modelsDir);
    expect((await other.list()).map(({ id }) => id)).toEqual(["a/a:Q8_0", "b/b:Q8_0"]);
    expect((await other.find("a/a:Q8_0"))?.license).toBe("apache-2.0");
    const names = await readdir(library.folder);
    expect(names).toHaveLength(2);
    expect(names.every((name) => /^[a-z0-9._-]+\.json$/.test(name))).toBe(true);
  });

  it("tells ids apart that differ in case or signs only", async () => {
    const ids = ["a/b:q", "A/B:q", "a-b:q", "a:b/q"];
    for (const id of ids) await library.add(manifestOf(id));
    expect((await library.list()).map(({ id }) => id).sort()).toEqual([...ids].sort());
    const names = await readdir(library.folder);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(ids.length);
  });

  it("forgets what was removed, also when its file has another name", async () => {
    await library.add(manifestOf("a"));
    await writeFile(join(library.folder, "copied.json"), JSON.stringify(manifestOf("b")));
    expect(await library.remove("b")).toBe(true);
    expect((await library.list()).map(({ id }) => id)).toEqual(["a"]);
    expect(await library.remove("a")).toBe(true);
    expect(await library.list()).toEqual([]);
  });

  it("sees what another process changed", async () => {
    await library.add(manifestOf("a", { license: "mit" }));
    expect((await library.find("a"))?.license).toBe("mit");
    await openLibrary(modelsDir).add(manifestOf("a", { license: "other-1.0" }));
    expect((await library.find("a"))?.license).toBe("other-1.0");
  });

  it("refuses to add what it could not read", async () => {
    const wrong = manifestOf("../up");
    await expect(library.add(wrong)).rejects.toMatchObject({ code: "model_unavailable" });
    expect(await library.list()).toEqual([]);
  });

  it("says when it cannot be written", async () => {
    await writeFile(join(modelsDir, "library"), "a file");
    await expect(library.add(manifestOf("a"))).rejects.toThrow(/cannot be noted in .* writable/);
  });
});

describe("a broken manifest", () => {
  const good = manifestOf("bad");
  const [file] = good.files;
  const withPath = (path: string, ours = true) =>
    JSON.stringify({ ...good, files: [{ ...file, path, ours }] });

  it.each<[string, string, RegExp]>([
    ["cut short", JSON.stringify(good).slice(0, 40), /no JSON/],
    ["empty", "", /no JSON/],
    ["another thing", "[1, 2]", /at its top/],
    ["of a later version", JSON.stringify({ ...good, manifest_version: 2 }), /manifest_version/],
    ["without files", JSON.stringify({ ...good, files: [] }), /files/],
    ["without weights", JSON.stringify({ ...good, files: [{ ...file, role: "aux" }] }), /weights/],
    ["with an id that is none", JSON.stringify({ ...good, id: "a b" }), /id/],
    ["with an id of dots", JSON.stringify({ ...good, id: "a/../b" }), /dots/],
    ["with a path that leads out", withPath("../../etc/passwd"), /leads out/],
    ["with a path that hides dots", withPath("a/..\\b"), /leads out/],
    ["that calls ours what is not", withPath("/etc/passwd"), /cannot be ours/],
    ["too long", `"${"x".repeat(2_000_000)}"`, /too long/],
  ])("%s is named and passed over", async (_, text, reason) => {
    await library.add(manifestOf("good"));
    await writeFile(join(library.folder, "bad.json"), text);
    expect((await library.list()).map(({ id }) => id)).toEqual(["good"]);
    const broken = await library.broken();
    expect(broken).toEqual([{ file: "bad.json", reason: expect.stringMatching(reason) }]);
  });

  it("is one that takes the id of another", async () => {
    await library.add(manifestOf("a"));
    await writeFile(
      join(library.folder, "zz.json"),
      JSON.stringify(manifestOf("a", { license: "mit" })),
    );
    expect(await library.list()).toHaveLength(1);
    expect((await library.broken())[0]?.file).toBe("zz.json");
  });

  it("may be a folder, and drafts of a killed process are none", async () => {
    await mkdir(join(library.folder, "folder.json"), { recursive: true });
    await writeFile(join(library.folder, ".a.json.0123"), "{");
    expect(await library.list()).toEqual([]);
    expect(await library.broken()).toEqual([{ file: "folder.json", reason: "it is not a file" }]);
  });
});

it("a file lies in the models folder, or where it was found", () => {
  const [file] = manifestOf("a").files;
  expect(libraryFilePath("/m", file!)).toBe(join("/m", "hub/owner/name/m.gguf"));
  expect(libraryFilePath("/m", { ...file!, path: "/else/x.gguf" })).toBe("/else/x.gguf");
});

it("a manifest is text that a person can read", async () => {
  await library.add(manifestOf("a"));
  const [name] = await readdir(library.folder);
  const text = await readFile(join(library.folder, name!), "utf8");
  expect(text).toMatch(/^\{\n {2}"manifest_version": 1,\n/);
  expect(text.endsWith("}\n")).toBe(true);
});
