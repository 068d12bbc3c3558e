import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { fetcher } from "./__fixtures__/fetcher.js";
import { serveFiles } from "./__fixtures__/file-server.js";
import { compiledRoom, startProcess } from "./__fixtures__/other-process.js";
import { payload, specOf } from "./__fixtures__/payload.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { createArtifacts } from "./index.js";

const content = payload(400_000);

const room = compiledRoom();

describe("a full disk", () => {
  it.skipIf(process.platform === "win32")(
    "is named in the error, and nothing of the file is left",
    async () => {
      const dir = await tempDir();
      const server = await serveFiles((_, response) => response.end(content));
      const spec = specOf(content, [{ type: "https", url: `${server.origin}/m` }]);
      // A file size limit makes the same system call fail at the same place as a full disk does.
      const limited = startProcess(room(), fetcher(spec, dir), {
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
