import { createHash } from "node:crypto";
import { open, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { payload, specOf } from "./__fixtures__/payload.js";
import { serveRanges } from "./__fixtures__/range-server.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { createArtifacts } from "./index.js";

const content = payload(120_000);
const sha256 = createHash("sha256").update(content).digest("hex");
const never = new AbortController().signal;
const unknown = { file: "model.bin", size: null, sha256: null };

describe("a file that nobody knows beforehand", () => {
  it("is pinned by its first download", async () => {
    const dir = await tempDir();
    const server = await serveRanges(content);
    const spec = { ...unknown, sources: [{ type: "https", url: `${server.origin}/m` } as const] };
    const artifacts = createArtifacts();
    const brought = await artifacts.fetch(spec, dir, () => {}, never);
    expect(brought).toMatchObject({ size: content.length, sha256, pinnedBy: "first download" });
    expect(await artifacts.installed(spec, dir)).toEqual({ ...brought, cached: true });
    expect(await artifacts.fetch(spec, dir, () => {}, never)).toMatchObject({ cached: true });

    await writeFile(brought.path, payload(120_000, 7));
    expect(await artifacts.installed(spec, dir)).toBeNull();
    expect(await artifacts.installed(spec, dir)).toBeNull();
    await artifacts.fetch(spec, dir, () => {}, never);
    expect((await readFile(brought.path)).equals(content)).toBe(true);
  });

  it("is what stands there when somebody put it there", async () => {
    const dir = await tempDir();
    await writeFile(join(dir, "model.bin"), content);
    const found = await createArtifacts().installed({ ...unknown, sources: [] }, dir);
    expect(found).toMatchObject({ sha256, source: "found on disk", pinnedBy: "first download" });
  });

  it("may be of a known size only, or of a known hash only", async () => {
    const server = await serveRanges(content);
    const sources = [{ type: "https", url: `${server.origin}/m` } as const];
    const artifacts = createArtifacts();
    const sized = { file: "a", size: content.length, sha256: null, sources };
    const hashed = { file: "a", size: null, sha256, sources };
    expect(await artifacts.fetch(sized, await tempDir(), () => {}, never)).toMatchObject({
      sha256,
    });
    expect(await artifacts.fetch(hashed, await tempDir(), () => {}, never)).toMatchObject({
      size: content.length,
      pinnedBy: "spec",
    });
    const short = { ...sized, size: content.length - 1 };
    await expect(artifacts.fetch(short, await tempDir(), () => {}, never)).rejects.toThrow(
      /offers 120000 bytes instead of 119999.*put the file \(119999 bytes\) at/,
    );
  });

  it("may be sent without its length, and may be empty", async () => {
    const empty = Buffer.alloc(0);
    for (const bytes of [content, empty]) {
      const server = await serveRanges(bytes, () => ({ chunked: true, ranges: false }));
      const spec = { ...unknown, sources: [{ type: "https", url: `${server.origin}/m` } as const] };
      const brought = await createArtifacts().fetch(spec, await tempDir(), () => {}, never);
      expect(brought.size).toBe(bytes.length);
    }
    const server = await serveRanges(empty);
    const spec = { ...unknown, sources: [{ type: "https", url: `${server.origin}/m` } as const] };
    expect(await createArtifacts().fetch(spec, await tempDir(), () => {}, never)).toMatchObject({
      size: 0,
    });
  });

  it("is not a web page", async () => {
    const page = Buffer.from("  <!DOCTYPE html><title>Sign in</title>");
    for (const headers of [{ "content-type": "text/html" }, {}] as Record<string, string>[]) {
      const dir = await tempDir();
      const server = await serveRanges(page, () => ({ headers }));
      const spec = { ...unknown, sources: [{ type: "https", url: `${server.origin}/m` } as const] };
      await expect(createArtifacts().fetch(spec, dir, () => {}, never)).rejects.toThrow(
        /a web page instead of the file/,
      );
      expect(await readdir(dir)).toEqual([]);
    }
  });
});

describe("a file of the right size and the wrong content", () => {
  it("is read once, not at every look", async () => {
    const dir = await tempDir();
    const path = join(dir, "model.bin");
    await writeFile(path, payload(120_000, 9));
    const artifacts = createArtifacts();
    const spec = specOf(content, []);
    expect(await artifacts.installed(spec, dir)).toBeNull();
    // Unread and unnoticed: the same identity with the right bytes in it, which only a reader would see.
    const receiptPath = join(dir, ".model.bin.receipt.json");
    await writeFile(path, content);
    const receipt = JSON.parse(await readFile(receiptPath, "utf8"));
    receipt.mtimeMs = Number((await stat(path, { bigint: true })).mtimeNs) / 1e6;
    await writeFile(receiptPath, JSON.stringify(receipt));
    expect(await artifacts.installed(spec, dir)).toBeNull();
    const handle = await open(path, "r+");
    await handle.utimes(new Date(), new Date());
    await handle.close();
    expect(await artifacts.installed(spec, dir)).toMatchObject({ sha256 });
  });
});

describe("a file made or found here", () => {
  it("is adopted with a receipt, so that it is not read again", async () => {
    const dir = await tempDir();
    const path = join(dir, "model.bin");
    await writeFile(path, content);
    const artifacts = createArtifacts();
    const made = await artifacts.adopt(path, { sha256, source: "converted from x" });
    expect(made).toMatchObject({ sha256, size: content.length, source: "converted from x" });
    expect(await artifacts.installed(specOf(content, []), dir)).toMatchObject({
      source: "converted from x",
      pinnedBy: "spec",
    });
    expect(await artifacts.adopt(path, { source: "found" })).toMatchObject({ sha256 });
    await expect(artifacts.adopt(join(dir, "none"), { source: "x" })).rejects.toMatchObject({
      code: "model_unavailable",
    });
  });

  it("is forgotten with everything that belongs to it, and nothing else", async () => {
    const dir = await tempDir();
    const path = join(dir, "model.bin");
    const artifacts = createArtifacts();
    for (const name of ["model.bin", ".model.bin.part", ".model.bin.part.json", "model.bin.txt"]) {
      await writeFile(join(dir, name), content);
    }
    await artifacts.adopt(path, { source: "x" });
    await artifacts.forget(path);
    expect(await readdir(dir)).toEqual(["model.bin.txt"]);
    await artifacts.forget(path);
    await artifacts.forget(join(dir, "nowhere", "model.bin"));
    expect(await readdir(dir)).toEqual(["model.bin.txt"]);
  });
});
