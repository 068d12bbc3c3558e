import { lstat, readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FakeMachine, makeFakeMachine } from "./__fixtures__/fake-machine.js";
import { addRelease } from "./__fixtures__/fake-release.js";
import { createProvisioning } from "./index.js";

let machine: FakeMachine;
const signal = new AbortController().signal;
const ignore = () => undefined;
const logged = () => machine.logged.map(({ msg }) => msg).join("\n");

beforeEach(async () => {
  machine = await makeFakeMachine();
});

afterEach(() => machine.remove());

test("a release goes before a build: unpacked whole, tried, and used from then on without network", async () => {
  const release = await addRelease(machine, [{ accelerator: "cpu", pinned: true }]);
  const provisioning = createProvisioning(machine.options);
  const steps: string[] = [];
  const binary = await provisioning.provide(({ step }) => steps.push(step), signal);
  expect(binary).toMatchObject({
    id: "b11434-cpu-release",
    origin: "release",
    accelerator: "cpu",
    build: 11434,
    path: join(
      machine.root,
      `11434-${process.platform}-${process.arch}-release-cpu`,
      "llama-server",
    ),
  });
  expect(binary.pinnedHere).toBeUndefined();
  expect((await readdir(dirname(binary.path))).sort()).toEqual([
    "libllama.so.0",
    "libllama.so.0.0.1",
    "llama-server",
    "receipt.json",
  ]);
  expect((await lstat(join(dirname(binary.path), "libllama.so.0"))).isSymbolicLink()).toBe(true);
  expect((await readdir(machine.root)).filter((name) => name.startsWith("."))).toEqual([]);
  expect(await readdir(join(machine.cacheDir, "downloads"))).toEqual([]);
  expect(await machine.starts()).toEqual([]);

  await release.close();
  const runs = await readFile(join(machine.folder, "engine-starts"), "utf8");
  expect(await provisioning.provide(ignore, signal)).toEqual(binary);
  expect(await readFile(join(machine.folder, "engine-starts"), "utf8")).toBe(runs);
  expect(steps).toContain("testing llama.cpp 11434 (cpu)");
});

test("a file without a digest is pinned by its first download, and another one is refused later", async () => {
  const release = await addRelease(machine, [{ accelerator: "cpu" }]);
  const provisioning = createProvisioning({ ...machine.options, sourceBuild: false });
  const first = await provisioning.provide(ignore, signal);
  expect(first.pinnedHere).toEqual([release.fileOf("cpu")]);
  expect(logged()).toContain("the catalog has no digest of this file");
  const receipt = JSON.parse(await readFile(join(dirname(first.path), "receipt.json"), "utf8"));
  expect(receipt.release.files).toEqual([
    expect.objectContaining({
      file: release.fileOf("cpu"),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      pinned_by: "first download",
    }),
  ]);

  await provisioning.remove(first.id, signal);
  release.replace("cpu", Buffer.from("another file"));
  await expect(provisioning.provide(ignore, signal)).rejects.toThrow(/the cpu release/);
  expect((await provisioning.installed()).map(({ id }) => id)).toEqual([]);
});

test("a release that finds no device gives way to that for the processor, once and aloud", async () => {
  const release = await addRelease(machine, [{ accelerator: "cuda" }, { accelerator: "cpu" }]);
  const options = {
    ...machine.options,
    drivers: async () => [{ accelerator: "cuda", version: 580 } as const],
  };
  const binary = await createProvisioning(options).provide(ignore, signal);
  expect(binary.id).toBe("b11434-cpu-release");
  expect(logged()).toContain("it finds no device for cuda; trying the cpu release");
  expect(release.asked).toEqual([release.fileOf("cuda"), release.fileOf("cpu")]);
  await createProvisioning(options).provide(ignore, signal);
  expect(release.asked).toHaveLength(2);
});

test("a release for an accelerator that has its device is used", async () => {
  await addRelease(machine, [
    { accelerator: "cuda", engine: { devices: ["CUDA0"] } },
    { accelerator: "cpu" },
  ]);
  const drivers = async () => [{ accelerator: "cuda", version: 580 } as const];
  const provisioning = createProvisioning({ ...machine.options, drivers });
  expect(await provisioning.provide(ignore, signal)).toMatchObject({
    id: "b11434-cuda-release",
    accelerator: "cuda",
  });
});

test("a release that computes wrongly is not used; the build from source is", async () => {
  await addRelease(machine, [{ accelerator: "cpu", engine: { answer: "nonsense" } }]);
  const binary = await createProvisioning(machine.options).provide(ignore, signal);
  expect(binary.origin).toBe("source");
  expect(logged()).toMatch(/the cpu release of llama.cpp cannot be used: it computes wrongly/);
});

test("what is no archive is refused, and neither pinned nor kept", async () => {
  const release = await addRelease(machine, [{ accelerator: "cpu" }]);
  release.replace("cpu", Buffer.from("<html>Please log in</html>"));
  const provisioning = createProvisioning({ ...machine.options, sourceBuild: false });
  await expect(provisioning.provide(ignore, signal)).rejects.toThrow(
    /web page instead of the file/,
  );
  expect(await readdir(machine.root)).not.toContain("pins.json");
  release.replace("cpu", Buffer.from("no archive either"));
  await expect(provisioning.provide(ignore, signal)).rejects.toThrow(/archive .* cannot be used/);
  expect(await readdir(join(machine.cacheDir, "downloads"))).toEqual([]);
  expect(await readdir(machine.root)).not.toContain("pins.json");
});

test("where the release cannot be reached the build begins at once", async () => {
  const release = await addRelease(machine, [{ accelerator: "cpu" }]);
  await release.close();
  const begun = performance.now();
  const binary = await createProvisioning(machine.options).provide(ignore, signal);
  expect(binary.origin).toBe("source");
  expect(performance.now() - begun).toBeLessThan(5_000);
});
