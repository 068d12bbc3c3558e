import { expect, test } from "vitest";
import { buildNumbered, defaultBuild, type PinnedBuild, readCatalog } from "../catalog.js";
import type { Driver } from "../drivers.js";
import { chooseAssets } from "./choose-assets.js";

async function variants(
  platform: NodeJS.Platform,
  arch: string,
  drivers: Driver[] = [],
  accelerator?: string,
  build?: PinnedBuild,
) {
  const pinned = build ?? defaultBuild((await readCatalog()).llama);
  return chooseAssets(pinned, { platform, arch, drivers }, { accelerator }).map(
    (plan) => plan.variant,
  );
}

const cuda = (version: number | null): Driver => ({ accelerator: "cuda", version });
const vulkan: Driver = { accelerator: "vulkan", version: null };

test("every system has a program for its processor or its one accelerator", async () => {
  for (const [platform, arch] of [
    ["linux", "x64"],
    ["linux", "arm64"],
    ["darwin", "x64"],
    ["win32", "x64"],
    ["win32", "arm64"],
  ] as const) {
    expect(await variants(platform, arch), `${platform} ${arch}`).toEqual(["cpu"]);
  }
  expect(await variants("darwin", "arm64", [{ accelerator: "metal", version: null }])).toEqual([
    "metal",
  ]);
  expect(await variants("freebsd", "x64")).toEqual([]);
});

test("the driver decides which CUDA it is, and the processor comes last", async () => {
  expect(await variants("linux", "x64", [cuda(535), vulkan])).toEqual([
    "cuda-12.8",
    "vulkan",
    "cpu",
  ]);
  expect(await variants("linux", "x64", [cuda(580)])).toEqual(["cuda-12.8", "cuda-13.4", "cpu"]);
  expect(await variants("linux", "x64", [cuda(470)])).toEqual(["cpu"]);
  expect(await variants("linux", "arm64", [cuda(570)])).toEqual(["cpu"]);
  expect(await variants("linux", "x64", [cuda(null)])).toContain("cuda-12.8");
});

test("an accelerator that is asked for is taken whatever drivers there are", async () => {
  expect(await variants("linux", "x64", [], "vulkan")).toEqual(["vulkan"]);
  expect(await variants("linux", "x64", [], "cuda-13.4")).toEqual(["cuda-13.4"]);
  expect(await variants("linux", "x64", [cuda(580)], "cpu")).toEqual(["cpu"]);
});

test("files lie at the catalog's address or at a mirror, each with what must be left away", async () => {
  const build = defaultBuild((await readCatalog()).llama);
  const machine = { platform: "linux", arch: "x64", drivers: [cuda(535)] } as const;
  const [plan] = chooseAssets(build, machine, {});
  expect(plan).toMatchObject({ url: expect.stringMatching(/\/b11434\/$/), number: 11434 });
  expect(plan?.folder).toBe("11434-linux-x64-release-cuda-12.8");
  expect(plan?.asset.files.map(({ file }) => file)).toEqual([
    "llama-b11434-bin-ubuntu-cuda-12.8-x64.tar.gz",
    "cudart-llama-b11434-bin-ubuntu-cuda-12.8-x64.tar.gz",
  ]);
  const [mirrored] = chooseAssets(build, machine, { url: "http://127.0.0.1/" });
  expect(mirrored?.url).toBe("http://127.0.0.1/");
});

test("the build to go back to has a digest for every file", async () => {
  const { release } = buildNumbered((await readCatalog()).llama, 11391);
  for (const { file, sha256, size } of release?.assets.flatMap(({ files }) => files) ?? []) {
    expect(sha256, file).toMatch(/^[0-9a-f]{64}$/);
    expect(size, file).toBeGreaterThan(1_000_000);
  }
});
