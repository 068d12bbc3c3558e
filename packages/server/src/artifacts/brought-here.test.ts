import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { payload, specOf } from "./__fixtures__/payload.js";
import { serveRanges } from "./__fixtures__/range-server.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { broughtHere, createArtifacts } from "./index.js";

const content = payload(50_000);
const never = new AbortController().signal;

it.each([
  ["the spec names its hash", {}],
  ["its first download pinned it", { sha256: null }],
])("a file stays one that was brought here when it is damaged, where %s", async (_, known) => {
  const dir = await tempDir();
  const server = await serveRanges(content);
  const spec = { ...specOf(content, [{ type: "https", url: `${server.origin}/m` }]), ...known };
  const path = join(dir, spec.file);
  const artifacts = createArtifacts();
  expect(await broughtHere(path)).toBe(false);
  await artifacts.fetch(spec, dir, () => {}, never);
  expect(await broughtHere(path)).toBe(true);

  await writeFile(path, payload(50_000, 2));
  expect(await artifacts.installed(spec, dir)).toBeNull();
  expect(await broughtHere(path)).toBe(true);

  await writeFile(join(dir, "mine"), payload(50_000, 2));
  await rename(join(dir, "mine"), path);
  expect(await artifacts.installed(spec, dir)).toBeNull();
  expect(await broughtHere(path)).toBe(false);
});
