import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { serveFiles } from "./__fixtures__/file-server.js";
import { compileRoom, startProcess } from "./__fixtures__/other-process.js";
import { payload, specOf } from "./__fixtures__/payload.js";
import { createPipStore } from "./__fixtures__/pip-store.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { addWheel } from "./__fixtures__/wheel.js";
import { type ArtifactSpec, createArtifacts } from "./index.js";

const content = payload(400_000);

const fetcher = (spec: ArtifactSpec, dir: string) => `
  const pip = process.env.TEST_PIP ? { pip: JSON.parse(process.env.TEST_PIP) } : {};
  console.log("started");
  try {
    const brought = await room.createArtifacts(pip).fetch(
      ${JSON.stringify(spec)}, ${JSON.stringify(dir)},
      (progress) => { if (progress.step.startsWith("waiting")) console.error = () => {}; },
      new AbortController().signal,
    );
    console.log(JSON.stringify(brought));
  } catch (error) {
    console.log(error.code + " " + error.message);
  }
`;

describe("a file wanted by two processes", () => {
  it("is fetched once", async () => {
    const dir = await tempDir();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await serveFiles(async (_, response) => {
      response.write(content.subarray(0, 1_000));
      await released;
      response.end(content.subarray(1_000));
    });
    const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
    const room = await compileRoom();
    const both = [1, 2].map(() => startProcess(room, fetcher(spec, dir)));
    await Promise.all(both.map((one) => one.line()));
    // Let go once both stand in the queue, the second one behind the first.
    while ((await readdir(join(dir, ".model.bin.lock")).catch(() => [])).length < 2) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    release();
    const said = await Promise.all(both.map((one) => one.line()));
    for (const line of said) {
      expect(JSON.parse(line)).toMatchObject({ sha256: spec.sha256, source: `${server.origin}/m` });
    }
    expect(server.asked).toHaveLength(1);
    expect((await readdir(dir)).sort()).toEqual([".model.bin.receipt.json", "model.bin"]);
  });

  it("is fetched anew after the first one was killed, whose leftovers and pip are gone", async () => {
    const store = await createPipStore();
    await addWheel(store.dir, "some-model", "1.0", [{ name: "m.bin", content }]);
    await store.behave({ "*": { hang: "during" } });
    const dir = await tempDir();
    const spec = specOf(content, [
      { type: "pypi", parts: [{ package: "some-model", version: "1.0", member: "m.bin" }] },
    ]);
    const first = startProcess(await compileRoom(), fetcher(spec, dir), {
      env: { ...store.options.env, TEST_PIP: JSON.stringify(store.options.pip) },
    });
    await first.line();
    while ((await store.calls()).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    first.child.kill("SIGKILL");
    await first.ended;
    const left = await readdir(dir);
    expect(left.filter((name) => name.endsWith(".part"))).toHaveLength(1);
    expect(left.filter((name) => name.startsWith("somnus-"))).toHaveLength(1);
    const [orphan] = await store.calls();
    if (process.platform === "linux") await gone(orphan?.pid ?? 0);

    await store.behave({});
    await mkdir(join(dir, "model.bin.0123456789ab.part.keep"));
    await writeFile(join(dir, "model.bin.notes.part"), "mine");
    const never = new AbortController().signal;
    await createArtifacts(store.options).fetch(spec, dir, () => {}, never);
    expect((await readdir(dir)).sort()).toEqual([
      ".model.bin.receipt.json",
      "model.bin",
      "model.bin.0123456789ab.part.keep",
      "model.bin.notes.part",
    ]);
  });
});

describe("a full disk", () => {
  it.skipIf(process.platform === "win32")(
    "is named in the error, and nothing of the file is left",
    async () => {
      const dir = await tempDir();
      const server = await serveFiles((_, response) => response.end(content));
      const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
      // A file size limit makes the same system call fail at the same place as a full disk does.
      const limited = startProcess(await compileRoom(), fetcher(spec, dir), {
        shell: "trap '' XFSZ; ulimit -f 200",
      });
      await limited.line();
      const message = await limited.line();
      expect(message).toMatch(/^model_unavailable .*no space is left to write in/);
      expect(message).toContain("Free 400.0 kB or more in");
      expect(await readdir(dir)).toEqual([]);
    },
  );

  it("is noticed before anything is fetched", async () => {
    const dir = await tempDir();
    const server = await serveFiles((_, response) => response.end(content));
    const spec = {
      ...specOf(content, [{ type: "https", url: `${server.origin}/m` }]),
      size: Number.MAX_SAFE_INTEGER,
    };
    const fetching = createArtifacts().fetch(spec, dir, () => {}, new AbortController().signal);
    await expect(fetching).rejects.toThrow(
      /needs about 9007\.2 TB of disk space in .*, where .* are free/,
    );
    expect(server.asked).toEqual([]);
  });
});

async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
