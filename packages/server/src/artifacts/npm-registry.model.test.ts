import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { createArtifacts } from "./index.js";

it("a member of a package of the real registry is brought by the real npm", async () => {
  const artifacts = createArtifacts();
  const spec = {
    file: "index.js",
    size: null,
    sha256: null,
    sources: [
      {
        type: "npm" as const,
        parts: [{ package: "is-odd", version: "3.0.1", member: "index.js" }],
      },
    ],
  };
  const signal = new AbortController().signal;
  const brought = await artifacts.fetch(spec, await tempDir(), () => {}, signal);
  const content = await readFile(brought.path);
  expect(content.toString()).toContain("module.exports = function isOdd(value)");
  expect(brought).toMatchObject({
    size: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
    source: "npm is-odd 3.0.1",
    pinnedBy: "first download",
  });
  const absent = {
    ...spec,
    sources: [
      { type: "npm" as const, parts: [{ package: "is-odd", version: "99.0.0", member: "x" }] },
    ],
  };
  await expect(artifacts.fetch(absent, await tempDir(), () => {}, signal)).rejects.toThrow(
    /the package registry has no is-odd 99\.0\.0/,
  );
}, 60_000);
