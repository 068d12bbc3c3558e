import { open, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../../processes/__fixtures__/system.js";
import { diskBytesPerSecond } from "./disk-speed.js";

const MiB = 2 ** 20;
const never = new AbortController().signal;
/** Number of the memory file system (statfs(2)). */
const TMPFS = 0x01021994;

async function fileOf(path: string, bytes: number): Promise<string> {
  await writeFile(path, Buffer.alloc(bytes, 0xa5));
  const file = await open(path, "r+");
  await file.sync();
  await file.close();
  return path;
}

const folder = "/dev/shm";
const hasMemoryFiles = await statfs(folder).then(
  ({ type }) => type === TMPFS,
  () => false,
);

it("is a number that can be, or none where the cache cannot be bypassed", async () => {
  const path = await fileOf(join(await temporaryFolder(), "model"), 32 * MiB);
  const speed = await diskBytesPerSecond(path, never);
  if (process.platform !== "linux") expect(speed).toBeNull();
  else if (speed !== null) {
    expect(speed).toBeGreaterThan(1e6);
    expect(speed).toBeLessThan(1e11);
  }
});

it.runIf(hasMemoryFiles)("is none of a file that is memory", async () => {
  const path = await fileOf(join(folder, `somnus-test-${process.pid}`), 32 * MiB);
  onTestFinished(() => rm(path, { force: true }));
  expect(await diskBytesPerSecond(path, never)).toBeNull();
});

it("is none of a file that is too small or not there", async () => {
  const at = await temporaryFolder();
  const small = await fileOf(join(at, "small"), 4 * MiB);
  expect(await diskBytesPerSecond(small, never)).toBeNull();
  expect(await diskBytesPerSecond(join(at, "absent"), never)).toBeNull();
});

it("stops when it is called off", async () => {
  const path = await fileOf(join(await temporaryFolder(), "model"), 32 * MiB);
  const reading = diskBytesPerSecond(path, AbortSignal.abort(new Error("off")));
  await expect(reading).rejects.toThrow("off");
});
