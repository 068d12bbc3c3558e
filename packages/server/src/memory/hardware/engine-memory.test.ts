import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemWith, temporaryFolder } from "../../processes/__fixtures__/system.js";
import { readEngineMemory } from "./engine-memory.js";
import { nvidiaProcessBytes } from "./nvidia-processes.js";

const MiB = 2 ** 20;
const signal = new AbortController().signal;

it("is what the process has for itself, and the files that it maps", async () => {
  const files = await systemWith({
    "/proc/7/status":
      "Name:\tllama-server\nVmRSS:\t  714 kB\nRssAnon:\t     310 kB\nRssFile:\t     400 kB\nRssShmem:\t       4 kB\n",
  });
  expect(await readEngineMemory(7, { devices: false, env: {}, signal, files })).toEqual({
    privateBytes: 310 * 1_024,
    mappedBytes: 400 * 1_024,
    deviceBytes: null,
  });
});

it("is unknown of a process that has gone, and where Linux's files are not", async () => {
  const files = await systemWith({});
  expect(await readEngineMemory(7, { devices: false, env: {}, signal, files })).toEqual({
    privateBytes: null,
    mappedBytes: null,
    deviceBytes: null,
  });
});

describe.runIf(process.platform !== "win32")("on NVIDIA's devices", () => {
  async function smi(listing: string, code = 0): Promise<string[]> {
    const path = join(await temporaryFolder(), "nvidia-smi");
    await writeFile(path, `#!/bin/sh\nprintf '%s' '${listing}'\nexit ${code}\n`);
    await chmod(path, 0o755);
    return [path];
  }
  const bytes = async (listing: string, code = 0) =>
    nvidiaProcessBytes(7, { env: { PATH: "" }, signal, places: await smi(listing, code) });

  it("is the sum over all devices that the process uses", async () => {
    expect(await bytes("7, 1200\n8, 5000\n7, 300\n")).toBe(1_500 * MiB);
  });

  it("is unknown where the driver does not tell it, or not of this process", async () => {
    expect(await bytes("7, [N/A]\n")).toBeNull();
    expect(await bytes("70, 1200\n")).toBeNull();
    expect(await bytes("", 6)).toBeNull();
    const places: string[] = [];
    expect(await nvidiaProcessBytes(7, { env: { PATH: "" }, signal, places })).toBeNull();
  });
});
