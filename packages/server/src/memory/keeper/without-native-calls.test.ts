import { truncate } from "node:fs/promises";
import { expect, it } from "vitest";
import { compiledRoom } from "./__fixtures__/compiled-room.js";
import { fileOf, MiB, never, slowFile, testKeeper } from "./__fixtures__/keeper.js";

const room = compiledRoom({ native: false });

it("a file is read once, and nothing is said about what cannot be known", async () => {
  const path = await fileOf(3 * MiB);
  const { keeper } = testKeeper(room().program);
  const done: number[] = [];
  const kept = await keeper.keep(path, { signal: never, on: (each) => done.push(each.done) });
  expect(kept).toMatchObject({
    state: "kept",
    residentBytes: null,
    lockedBytes: null,
    reason: expect.stringContaining("The native calls could not be loaded"),
  });
  expect(done).toEqual([3 * MiB]);
  expect(keeper.summary()).toMatchObject({
    means: "read",
    meansBecause: expect.stringContaining("koffi"),
    takenBytes: 3 * MiB,
  });
  await truncate(path, 0);
  expect(await keeper.status()).toMatchObject([{ state: "lost" }]);
  await keeper.release(path);
});

it("reading ends when it is cancelled, and when the file is cut", async () => {
  const { keeper } = testKeeper(room().program);
  const cancel = new AbortController();
  await expect(
    keeper.keep(await slowFile(), { signal: cancel.signal, on: () => cancel.abort() }),
  ).rejects.toThrow();
  const path = await slowFile();
  await expect(
    keeper.keep(path, { signal: never, on: () => void truncate(path, 4096) }),
  ).rejects.toMatchObject({ code: "model_unavailable" });
});
