import { chmod, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asNobody } from "../../test/other-process/index.js";
import { fetcher } from "./__fixtures__/fetcher.js";
import { compiledRoom, startProcess } from "./__fixtures__/other-process.js";
import { payload, specOf } from "./__fixtures__/payload.js";
import { serveRanges } from "./__fixtures__/range-server.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { storageError } from "./storage-error.js";

const content = payload(50_000);
const room = compiledRoom();

describe.skipIf(process.platform !== "linux")("a folder that this user may not write", () => {
  it("is named with what to do, and nothing is asked of any source", async () => {
    const dir = await tempDir();
    await chmod(dir, 0o555);
    const server = await serveRanges(content);
    const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
    const other = startProcess(room(), fetcher(spec, dir), { prefix: asNobody });
    expect(await other.line()).toBe("started");
    expect(await other.line()).toMatch(
      /^model_unavailable model\.bin cannot be stored in .*EACCES.*Make the folder writable for the user that Somnus runs as/,
    );
    expect(server.requests).toEqual([]);
    await chmod(dir, 0o755);
    expect(await readdir(dir)).toEqual([]);
  });

  it("still serves the file that stands in it", async () => {
    const dir = await tempDir();
    await writeFile(join(dir, "model.bin"), content);
    await chmod(dir, 0o555);
    const other = startProcess(room(), fetcher(specOf(content, []), dir), { prefix: asNobody });
    expect(await other.line()).toBe("started");
    expect(JSON.parse(await other.line())).toMatchObject({ cached: true, source: "found on disk" });
    await chmod(dir, 0o755);
    expect(await readdir(dir)).toEqual(["model.bin"]);
  });
});

it.each([
  ["EROFS", /read-only: mount it writable/],
  ["EACCES", /Make the folder writable for the user/],
  ["ENOSPC", /Free some space there/],
  ["EIO", /choose another one/],
])("an error of the system is told with what to do about %s", (code, advice) => {
  const error = Object.assign(new Error(`${code}: something`), { code });
  expect(storageError("x cannot be stored in", "/models/x", error)).toMatchObject({
    code: "model_unavailable",
    message: expect.stringMatching(advice),
  });
});
