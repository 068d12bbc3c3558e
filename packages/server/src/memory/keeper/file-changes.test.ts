import { appendFile, readFile, rename, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { compiledRoom } from "./__fixtures__/compiled-room.js";
import {
  fileOf,
  MiB,
  never,
  seenFromOutside,
  slowFile,
  testKeeper,
} from "./__fixtures__/keeper.js";

const room = compiledRoom();
const onLinux = it.runIf(process.platform === "linux");

onLinux.each([
  ["cut", "changed", (path: string) => truncate(path, 4096)],
  ["emptied", "changed", (path: string) => truncate(path, 0)],
  ["grown", "changed", (path: string) => appendFile(path, "more")],
  [
    "written to",
    "changed",
    async (path: string) => {
      const bytes = await readFile(path);
      bytes[5] = (bytes[5] as number) ^ 1;
      await writeFile(path, bytes);
      await utimes(path, 1, 1);
    },
  ],
  ["removed", "missing", (path: string) => rm(path)],
  ["replaced", "missing", async (path: string) => rename(await fileOf(2 * MiB), path)],
])("a file that is %s is no longer kept, and the others are", async (_, reason, harm) => {
  const [path, other] = [await fileOf(2 * MiB), await fileOf(MiB)];
  const { keeper, events, event } = testKeeper(room().program);
  await keeper.keep(path, { signal: never });
  await keeper.keep(other, { signal: never });
  const { pid } = keeper.summary();
  await harm(path);
  expect(await keeper.status()).toMatchObject([
    { path, state: "lost", holders: 1, residentBytes: null, lockedBytes: null },
    { path: other, state: "kept", residentBytes: MiB, lockedBytes: MiB },
  ]);
  expect(await event("lost")).toMatchObject({ path, reason });
  // No signal, no restart: what is left of the file is unmapped, and the process lives.
  expect(events).toHaveLength(1);
  expect(keeper.summary()).toMatchObject({ pid, deaths: 0, takenBytes: MiB });
  expect(await seenFromOutside(pid as number, path)).toEqual({
    lockedBytes: MiB,
    mapsFile: false,
  });
  await keeper.release(path);
  expect(await keeper.status()).toMatchObject([{ path: other, state: "kept" }]);
});

onLinux("a change is noticed without being asked for", async () => {
  const path = await fileOf(MiB);
  const { keeper, event } = testKeeper(room().program);
  await keeper.keep(path, { signal: never });
  await truncate(path, 0);
  expect(await event("lost")).toMatchObject({
    path,
    reason: "changed",
    message: "weights.gguf is no longer kept in memory: it was cut from 1048576 to 0 bytes.",
  });
});

onLinux("a file that is cut while it is brought in is refused", async () => {
  const path = await slowFile();
  const { keeper, events } = testKeeper(room().program);
  let cut: Promise<void> | undefined;
  const keeping = keeper.keep(path, {
    signal: never,
    on: () => {
      cut ??= truncate(path, 4096);
    },
  });
  await expect(keeping).rejects.toMatchObject({
    code: "model_unavailable",
    message: expect.stringContaining("it was cut from 1073741824 to 4096 bytes"),
  });
  await cut;
  expect(await keeper.status()).toEqual([]);
  expect(events).toEqual([]);
});

onLinux("a new file in the place of a kept one is kept anew, for the old holders too", async () => {
  const path = await fileOf(2 * MiB);
  const { keeper, event } = testKeeper(room().program);
  await keeper.keep(path, { signal: never });
  await rename(await fileOf(3 * MiB), path);
  const kept = await keeper.keep(path, { signal: never });
  expect(kept).toMatchObject({ bytes: 3 * MiB, residentBytes: 3 * MiB, holders: 2 });
  expect(await event("lost")).toMatchObject({ path, reason: "missing" });
  expect(await keeper.status()).toMatchObject([{ state: "kept", holders: 2 }]);
  await keeper.release(path);
  await keeper.release(path);
  expect(await keeper.status()).toEqual([]);
  await expect.poll(() => keeper.summary().takenBytes).toBe(0);
});

it("what is no file with content is refused", async () => {
  const path = await fileOf(1);
  await truncate(path, 0);
  const { keeper } = testKeeper(room().program);
  for (const each of [path, `${path}.not-there`, "/"]) {
    await expect(keeper.keep(each, { signal: never })).rejects.toMatchObject({
      code: "model_unavailable",
    });
  }
  expect(keeper.summary().pid).toBeNull();
});
