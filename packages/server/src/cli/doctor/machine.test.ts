import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemWith as machine } from "../../processes/__fixtures__/system.js";
import { SystemFiles } from "../../processes/index.js";
import { temporaryFolder } from "../__fixtures__/cli.js";
import { cacheFolder, checkFolder } from "./disk.js";
import { checkGraphics } from "./graphics.js";
import { checkNode } from "./index.js";
import { checkMemory } from "./memory.js";
import type { Answer } from "./tools.js";

const NO_LIMITS = { version: null, memory: null, processors: null };

test("little memory is a failure, some is a warning, and a tighter group counts by itself", async () => {
  const meminfo = (kb: number) => ({
    "/proc/meminfo": `MemTotal: 33554432 kB\nMemAvailable: ${kb} kB`,
  });
  const state = async (kb: number) =>
    (await checkMemory(await machine(meminfo(kb)), NO_LIMITS)).map((one) => one.state);
  expect(await state(512 * 1_024)).toEqual(["fail"]);
  expect(await state(2 * 1_048_576)).toEqual(["warn"]);
  expect(await state(16 * 1_048_576)).toEqual(["ok"]);
  const limited = await checkMemory(await machine(meminfo(16 * 1_048_576)), {
    ...NO_LIMITS,
    version: 2,
    memory: { limitBytes: 2 ** 29, usedBytes: 0 },
  });
  expect(limited.map(({ check, state }) => [check, state])).toEqual([
    ["memory", "ok"],
    ["memory limit", "fail"],
  ]);
});

const absent: Answer = { ok: false, found: false, output: "" };
const card = {
  "/sys/bus/pci/devices/0000:01:00.0/class": "0x030000",
  "/sys/bus/pci/devices/0000:01:00.0/vendor": "0x10de",
};

test.runIf(process.platform === "linux")("a card without its driver is a warning", async () => {
  const [finding] = await checkGraphics(await machine(card), async () => absent);
  expect(finding).toMatchObject({ state: "warn", fix: expect.stringContaining("driver") });
});

test.runIf(process.platform === "linux")("a card with its driver is named", async () => {
  const output = "NVIDIA RTX 4090, 24564 MiB, 550.1\n";
  const found = await checkGraphics(await machine(card), async () => ({
    ok: true,
    found: true,
    output,
  }));
  expect(found).toEqual([{ check: "graphics", state: "ok", found: output.trim(), fix: null }]);
});

test.runIf(process.platform === "linux")("no card is no trouble", async () => {
  const [finding] = await checkGraphics(await machine({}), async () => absent);
  expect(finding?.state).toBe("ok");
});

test("a folder that is too full or cannot be reached is told", async () => {
  const files = new SystemFiles();
  const path = join(await temporaryFolder(), "not", "yet", "there");
  expect((await checkFolder({ ...cacheFolder(path), least: 1e18 }, files)).state).toBe("fail");
  expect(
    (await checkFolder({ ...cacheFolder(path), least: 1, comfortable: 1e18 }, files)).state,
  ).toBe("warn");
  const file = join(await temporaryFolder(), "file");
  await writeFile(file, "");
  const below = await checkFolder(cacheFolder(join(file, "folder")), files);
  expect(below).toMatchObject({ state: "fail", fix: expect.any(String) });
});

test.each([
  ["20.18.9", "fail"],
  ["20.19.0", "ok"],
  ["24.1.0", "ok"],
])("Node.js %s is %s", (version, state) => {
  expect(checkNode(version).state).toBe(state);
});
