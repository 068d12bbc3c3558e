import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { afterShell } from "../../test/other-process/index.js";
import { fetcher } from "./__fixtures__/fetcher.js";
import { serveFiles } from "./__fixtures__/file-server.js";
import { compiledRoom, startProcess } from "./__fixtures__/other-process.js";
import { payload, specOf } from "./__fixtures__/payload.js";
import { serveRanges } from "./__fixtures__/range-server.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { createArtifacts } from "./index.js";

const content = payload(400_000);

const room = compiledRoom();

describe("a full disk", () => {
  it.skipIf(process.platform === "win32")(
    "is named in the error, and what came is kept and gone on with",
    async () => {
      const dir = await tempDir();
      const server = await serveRanges(content);
      const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
      // A file size limit makes the same system call fail at the same place as a full disk does.
      const limited = startProcess(room(), fetcher(spec, dir), {
        prefix: afterShell("trap '' XFSZ; ulimit -f 200"),
      });
      await limited.line();
      const message = await limited.line();
      expect(message).toMatch(/^model_unavailable .*no space is left to write in/);
      expect(message).toContain("Free 400.0 kB or more in");
      expect(message).toMatch(/; the [\d.]+ kB that came are kept in .*\.model\.bin\.part/);
      expect((await readdir(dir)).sort()).toEqual([".model.bin.part", ".model.bin.part.json"]);

      const never = new AbortController().signal;
      const brought = await createArtifacts().fetch(spec, dir, () => {}, never);
      expect((await readFile(brought.path)).equals(content)).toBe(true);
      expect(server.requests[1]?.range?.start).toBeGreaterThan(0);
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
