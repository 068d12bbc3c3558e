import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { asNobody } from "../../test/other-process/index.js";
import { compiledRoom, startProcess } from "./__fixtures__/other-process.js";
import { payload, specOf } from "./__fixtures__/payload.js";
import { serveRanges } from "./__fixtures__/range-server.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { createArtifacts } from "./index.js";

const content = payload(50_000);
const never = new AbortController().signal;
const room = compiledRoom();

const ODD = {
  "a folder": (path: string) => mkdir(path),
  "a FIFO": (path: string) => promisify(execFile)("mkfifo", [path]).then(() => {}),
  "a text": (path: string) => writeFile(path, "{"),
};
const cases = (Object.keys(ODD) as (keyof typeof ODD)[]).flatMap((what) =>
  [".model.bin.receipt.json", ".model.bin.part.json"].map((name) => [what, name] as const),
);

describe.skipIf(process.platform === "win32")("beside a file", () => {
  it.each(cases)("%s in the place of %s is passed over and can be removed", async (what, name) => {
    const dir = await tempDir();
    await ODD[what](join(dir, name));
    const server = await serveRanges(content);
    const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
    const artifacts = createArtifacts();
    const { path } = await artifacts.fetch(spec, dir, () => {}, never);
    expect((await readFile(path)).equals(content)).toBe(true);
    expect(await artifacts.installed(spec, dir)).toMatchObject({ sha256: spec.sha256 });
    await artifacts.forget(path);
    expect(await readdir(dir)).toEqual([]);
  });

  it("a folder with something in it, in the place of a receipt, is not removed", async () => {
    const dir = await tempDir();
    const path = join(dir, "model.bin");
    await writeFile(path, content);
    await mkdir(join(dir, ".model.bin.receipt.json"));
    await writeFile(join(dir, ".model.bin.receipt.json", "mine"), "");
    await expect(createArtifacts().forget(path)).rejects.toMatchObject({
      code: "model_unavailable",
      message: expect.stringContaining("move it elsewhere"),
    });
  });
});

describe.skipIf(process.platform !== "linux")("for a user without the right to read", () => {
  const look = (spec: unknown, dir: string) => `
    try {
      console.log(JSON.stringify(await room.createArtifacts().installed(
        ${JSON.stringify(spec)}, ${JSON.stringify(dir)})));
    } catch (error) {
      console.log(error.code + " " + error.message);
    }`;

  async function seen(dir: string): Promise<string> {
    const spec = specOf(content, []);
    return startProcess(room(), look(spec, dir), { prefix: asNobody }).line();
  }

  it("a receipt counts as none", async () => {
    const dir = await tempDir();
    await chmod(dir, 0o755);
    await writeFile(join(dir, "model.bin"), content);
    await writeFile(join(dir, ".model.bin.receipt.json"), "{}", { mode: 0o000 });
    expect(JSON.parse(await seen(dir))).toMatchObject({ source: "found on disk" });
  });

  it("a folder is told with what to do", async () => {
    const dir = await tempDir();
    await writeFile(join(dir, "model.bin"), content);
    await chmod(dir, 0o000);
    expect(await seen(dir)).toMatch(
      /^model_unavailable .*model\.bin cannot be read: EACCES.*the right to read it and its folder/,
    );
    await chmod(dir, 0o700);
  });
});
