import { cp, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { payload, specOf } from "./__fixtures__/payload.js";
import { serveRanges } from "./__fixtures__/range-server.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { createArtifacts } from "./index.js";

const content = payload(50_000);
const never = new AbortController().signal;

async function oneServer() {
  const dir = await tempDir();
  const server = await serveRanges(content);
  const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
  const fetch = (into = dir) => createArtifacts().fetch(spec, into, () => {}, never);
  return { dir, path: join(dir, "model.bin"), server, fetch };
}

describe("a file that somebody else put in the place of a wanted one", () => {
  it.each([
    ["another size", "precious", "it has 8 bytes, not 50000"],
    ["another content", payload(50_000, 2), "it has SHA-256"],
  ])("is not replaced when it has %s, and nothing is asked for", async (_, bytes, reason) => {
    const { path, server, fetch } = await oneServer();
    await writeFile(path, bytes);
    for (let time = 0; time < 2; time += 1) {
      const refusal = await fetch().catch((error: Error) => error);
      expect(refusal).toMatchObject({ code: "model_unavailable" });
      expect(String(refusal)).toContain(reason);
      expect(String(refusal)).toContain("Move it elsewhere, or delete it");
    }
    expect((await readFile(path)).equals(Buffer.from(bytes))).toBe(true);
    expect(server.requests).toEqual([]);
    await rm(path);
    await fetch();
    expect((await readFile(path)).equals(content)).toBe(true);
  });

  it("is not replaced when it was only taken into use where it lies", async () => {
    const { path, fetch } = await oneServer();
    await writeFile(path, payload(50_000, 2));
    await createArtifacts().adopt(path, { source: "imported" });
    await expect(fetch()).rejects.toThrow("Somnus did not put it there");
  });

  it("is not replaced where one of ours stood before", async () => {
    const { dir, path, fetch } = await oneServer();
    await fetch();
    await writeFile(join(dir, "mine"), payload(50_000, 2));
    await rename(join(dir, "mine"), path);
    await expect(fetch()).rejects.toThrow("Somnus did not put it there");
  });

  it("is not replaced when it comes while the file is fetched", async () => {
    const dir = await tempDir();
    const path = join(dir, "model.bin");
    const server = await serveRanges(content, () => ({
      everyMs: () => {
        placed ??= writeFile(path, "precious");
        return 1;
      },
    }));
    let placed: Promise<void> | undefined;
    const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
    const fetching = createArtifacts().fetch(spec, dir, () => {}, never);
    await expect(fetching).rejects.toThrow("Somnus did not put it there");
    await placed;
    expect(await readFile(path, "utf8")).toBe("precious");
  });

  it.each(["a folder", "a dangling link"])("is told when it is %s", async (what) => {
    const { dir, path, fetch } = await oneServer();
    if (what === "a folder") await mkdir(path);
    else await symlink(join(dir, "nowhere"), path);
    await expect(fetch()).rejects.toThrow("it is not a regular file");
  });
});

describe("a file that was brought here", () => {
  it("is replaced when it is damaged", async () => {
    const { path, fetch } = await oneServer();
    await fetch();
    for (const damage of [content.subarray(0, 100), payload(50_000, 2)]) {
      await writeFile(path, damage);
      expect(await fetch()).toMatchObject({ cached: false });
      expect((await readFile(path)).equals(content)).toBe(true);
    }
  });

  it("is replaced when another content is wanted by now, also after its folder was copied", async () => {
    const { dir, fetch } = await oneServer();
    await fetch();
    const copied = join(await tempDir(), "copied");
    await cp(dir, copied, { recursive: true });
    const newer = payload(50_000, 3);
    const server = await serveRanges(newer);
    const spec = specOf(newer, [{ type: "https", url: `${server.origin}/m` }]);
    for (const folder of [dir, copied]) {
      const { path } = await createArtifacts().fetch(spec, folder, () => {}, never);
      expect((await readFile(path)).equals(newer)).toBe(true);
    }
  });
});
