import { describe, expect, it } from "vitest";
import { compiledRoom } from "./__fixtures__/compiled-room.js";
import { fileOf, MiB, never, seenFromOutside, testKeeper } from "./__fixtures__/keeper.js";

const room = compiledRoom();

// Small enough to be locked by an ordinary user.
describe.runIf(process.platform === "linux")("a file that is kept", () => {
  it("is in memory and locked as a whole, as the system counts too", async () => {
    const bytes = 3 * MiB + 123;
    const path = await fileOf(bytes);
    const { keeper } = testKeeper(room().program);
    const kept = await keeper.keep(path, { signal: never });
    expect(kept).toEqual({
      path,
      bytes,
      state: "kept",
      holders: 1,
      residentBytes: bytes,
      lockedBytes: bytes,
      reason: null,
      tookMs: kept.tookMs,
    });
    expect(kept.tookMs).toBeGreaterThan(0);
    const { pid, means } = keeper.summary();
    expect(means).toBe("mapped");
    const seen = await seenFromOutside(pid as number, path);
    expect(seen.mapsFile).toBe(true);
    expect(seen.lockedBytes).toBe(3 * MiB + 4096);
    const { tookMs: _, ...status } = kept;
    expect(await keeper.status()).toEqual([status]);
  });

  it("is given back when it is released, and its process holds nothing more", async () => {
    const path = await fileOf(MiB);
    const { keeper } = testKeeper(room().program);
    await keeper.keep(path, { signal: never });
    await keeper.release(path);
    const seen = await seenFromOutside(keeper.summary().pid as number, path);
    expect(seen).toEqual({ lockedBytes: 0, mapsFile: false });
    expect(await keeper.status()).toEqual([]);
    expect(keeper.summary().takenBytes).toBe(0);
    await keeper.release(path);
  });

  it("tells how far it is while it is brought in", async () => {
    const path = await fileOf(70 * MiB);
    const { keeper } = testKeeper(room().program);
    const done: number[] = [];
    await keeper.keep(path, {
      signal: never,
      on: (progress) => {
        expect(progress).toMatchObject({ file: "weights.gguf", total: 70 * MiB, unit: "bytes" });
        done.push(progress.done);
      },
    });
    expect(done).toEqual([32 * MiB, 64 * MiB, 70 * MiB]);
  });
});
