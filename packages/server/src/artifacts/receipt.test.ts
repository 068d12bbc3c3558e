import {
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { payload, specOf } from "./__fixtures__/payload.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { createArtifacts } from "./index.js";

const content = payload(50_000);
const never = new AbortController().signal;
const spec = specOf(content, []);

async function withFile(bytes: Buffer = content) {
  const dir = await tempDir();
  const path = join(dir, "model.bin");
  await writeFile(path, bytes);
  return { dir, path, receipt: join(dir, ".model.bin.receipt.json") };
}

describe("an installed file", () => {
  it("is none where nothing is, or a folder, or another size or content", async () => {
    const artifacts = createArtifacts();
    expect(await artifacts.installed(spec, join(await tempDir(), "nowhere"))).toBeNull();
    const folder = await tempDir();
    await mkdir(join(folder, "model.bin"));
    expect(await artifacts.installed(spec, folder)).toBeNull();
    expect(await artifacts.installed(spec, (await withFile(content.subarray(1))).dir)).toBeNull();
    expect(await artifacts.installed(spec, (await withFile(payload(50_000, 3))).dir)).toBeNull();
  });

  it("gets a receipt when it is right and has none", async () => {
    const { dir, path, receipt } = await withFile();
    expect(await createArtifacts().installed(spec, dir)).toEqual({
      path,
      size: content.length,
      sha256: spec.sha256,
      pinnedBy: "spec",
      source: "found on disk",
      cached: true,
    });
    expect(JSON.parse(await readFile(receipt, "utf8"))).toMatchObject({
      sha256: spec.sha256,
      size: content.length,
      inode: String((await stat(path)).ino),
      verified_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
  });

  it("is not read again while its receipt fits it", async () => {
    const { dir, path } = await withFile();
    const artifacts = createArtifacts();
    await artifacts.installed(spec, dir);
    const { atime, mtime } = await stat(path);
    // The same size, time and inode with other bytes: only a reader would notice.
    await writeFile(path, payload(50_000, 3));
    await utimes(path, atime, mtime);
    const receipt = join(dir, ".model.bin.receipt.json");
    const noted = JSON.parse(await readFile(receipt, "utf8"));
    noted.mtimeMs = Number((await stat(path, { bigint: true })).mtimeNs) / 1e6;
    await writeFile(receipt, JSON.stringify(noted));
    expect(await artifacts.installed(spec, dir)).toMatchObject({ cached: true });
  });

  it("is read again when it was changed or replaced since", async () => {
    const { dir, path } = await withFile();
    const artifacts = createArtifacts();
    await artifacts.installed(spec, dir);
    await writeFile(path, payload(50_000, 3));
    expect(await artifacts.installed(spec, dir)).toBeNull();
    await writeFile(join(dir, "other"), content);
    await rename(join(dir, "other"), path);
    expect(await artifacts.installed(spec, dir)).toMatchObject({ cached: true });
  });

  it("does not trust a receipt that is damaged or for another content", async () => {
    const { dir, receipt } = await withFile();
    const artifacts = createArtifacts();
    for (const text of ["", "{", "null", '{"sha256":1}']) {
      await writeFile(receipt, text);
      expect(await artifacts.installed(spec, dir)).toMatchObject({ cached: true });
    }
    const other = specOf(payload(50_000, 5), []);
    expect(await artifacts.installed(other, dir)).toBeNull();
  });

  it("has its receipt in another folder when its own is somebody else's, until it is gone", async () => {
    const [one, two] = [await withFile(), await withFile()];
    const receiptsIn = join(await tempDir(), "receipts");
    const artifacts = createArtifacts();
    const look = ({ dir }: { dir: string }) => artifacts.installed(spec, dir, { receiptsIn });
    expect(await look(one)).toMatchObject({ path: one.path, sha256: spec.sha256 });
    expect(await readdir(one.dir)).toEqual(["model.bin"]);
    const [receipt] = await readdir(receiptsIn);
    const noted = JSON.parse(await readFile(join(receiptsIn, receipt!), "utf8"));
    expect(noted).toMatchObject({ file: one.path, sha256: spec.sha256 });
    // That it is believed shows that it is read instead of the file.
    await writeFile(
      join(receiptsIn, receipt!),
      JSON.stringify({ ...noted, source: "a place of its own" }),
    );
    expect(await look(one)).toMatchObject({ source: "a place of its own" });
    await rm(one.path);
    await look(two);
    const left = await readdir(receiptsIn);
    expect(left).toHaveLength(1);
    expect(left).not.toContain(receipt);
  });

  it("is returned by fetch without asking any source, and fetched over when it is wrong", async () => {
    const elsewhere = await withFile();
    const source = { type: "file", path: elsewhere.path } as const;
    const sourced = { ...spec, sources: [source] };
    const dir = await tempDir();
    const artifacts = createArtifacts();
    const { path } = await artifacts.fetch(sourced, dir, () => {}, never);
    expect(await artifacts.fetch(spec, dir, () => {}, never)).toMatchObject({ cached: true });
    await rm(elsewhere.path);
    await writeFile(path, "wrong");
    await writeFile(elsewhere.path, content);
    const brought = await artifacts.fetch(sourced, dir, () => {}, never);
    expect(brought).toMatchObject({ cached: false, source: `file ${elsewhere.path}` });
    expect((await readFile(path)).equals(content)).toBe(true);
  });
});

describe("a file of this machine", () => {
  it("is linked, not copied, also through a symbolic link, and survives the original", async () => {
    const { path } = await withFile();
    const dir = await tempDir();
    await symlink(path, join(dir, "link"));
    const source = { type: "file", path: join(dir, "link") } as const;
    const brought = await createArtifacts().fetch(
      { ...spec, sources: [source] },
      dir,
      () => {},
      never,
    );
    expect((await stat(brought.path)).ino).toBe((await stat(path)).ino);
    await rm(path);
    expect((await readFile(brought.path)).equals(content)).toBe(true);
  });

  it("is refused with the reason when it is missing, a folder, too short or another one", async () => {
    const dir = await tempDir();
    const paths = [
      join(dir, "nowhere"),
      dir,
      (await withFile(content.subarray(1))).path,
      (await withFile(payload(50_000, 3))).path,
    ];
    const sources = paths.map((path) => ({ type: "file", path }) as const);
    const target = await tempDir();
    const fetching = createArtifacts().fetch({ ...spec, sources }, target, () => {}, never);
    const message = await fetching.catch((error: Error) => error.message);
    expect(message).toContain(`file ${paths[0]}: there is no such file; `);
    expect(message).toContain(`file ${paths[1]}: it is not a regular file; `);
    expect(message).toContain(`file ${paths[2]}: it has 49999 bytes instead of 50000; `);
    expect(message).toMatch(/its content is another one/);
    expect(message).toContain(`SHA-256 ${spec.sha256}) at ${join(target, "model.bin")} yourself`);
    expect(await stat(join(target, "model.bin")).catch(() => null)).toBeNull();
  });
});

describe("a spec", () => {
  it.each([
    [{ file: "../model.bin" }, /not a plain file name/],
    [{ file: "" }, /not a plain file name/],
    [{ size: 1.5 }, /not a number of bytes/],
    [{ sha256: "ABC" }, /not 64 lower-case/],
  ])("with %o is refused", async (change, reason) => {
    const dir = await tempDir();
    const artifacts = createArtifacts();
    await expect(artifacts.fetch({ ...spec, ...change }, dir, () => {}, never)).rejects.toThrow(
      reason,
    );
  });

  it("whose folder cannot be made is refused with what to do", async () => {
    const { path } = await withFile();
    const fetching = createArtifacts().fetch(spec, join(path, "below"), () => {}, never);
    await expect(fetching).rejects.toMatchObject({
      code: "model_unavailable",
      message: expect.stringContaining("move it elsewhere, or choose another folder"),
    });
  });
});
