import { expect, it } from "vitest";
import { compiledRoom } from "./__fixtures__/compiled-room.js";
import { fileOf, MiB, never, slowFile, testKeeper } from "./__fixtures__/keeper.js";

const room = compiledRoom();

it.runIf(process.platform === "linux").each(["SIGKILL", "SIGBUS"] as const)(
  "after a %s another process holds what was held, and it is told",
  async (signal) => {
    const [path, other] = [await fileOf(2 * MiB), await fileOf(MiB)];
    const { keeper, event } = testKeeper(room().program);
    await keeper.keep(path, { signal: never });
    await keeper.keep(other, { signal: never });
    await keeper.keep(path, { signal: never });
    const before = keeper.summary().pid as number;
    process.kill(before, signal);
    expect((await event("died")).why).toContain(signal);
    expect(await keeper.status()).toMatchObject([
      { path, state: "restoring", holders: 2, residentBytes: null, lockedBytes: null },
      { path: other, state: "restoring", holders: 1 },
    ]);
    const restored = [await event("restored"), await event("restored")];
    expect(restored.map((each) => each.path).sort()).toEqual([path, other].sort());
    expect(await keeper.status()).toMatchObject([
      { path, state: "kept", holders: 2, residentBytes: 2 * MiB, lockedBytes: 2 * MiB },
      { path: other, state: "kept", holders: 1, residentBytes: MiB },
    ]);
    expect(keeper.summary()).toMatchObject({ deaths: 1, takenBytes: 3 * MiB });
    expect(keeper.summary().pid).not.toBe(before);
  },
);

it.runIf(process.platform === "linux")(
  "a keeping that was under way goes on in the next process",
  async () => {
    const path = await slowFile();
    const { keeper, event } = testKeeper(room().program);
    const cancel = new AbortController();
    const done: number[] = [];
    let again = () => {};
    const restarted = new Promise<void>((resolve) => {
      again = resolve;
    });
    const keeping = keeper.keep(path, {
      signal: cancel.signal,
      on: (progress) => {
        done.push(progress.done);
        if (done.length === 1) process.kill(keeper.summary().pid as number, "SIGKILL");
        if (keeper.summary().deaths === 1) again();
      },
    });
    await event("died");
    await restarted;
    cancel.abort();
    await expect(keeping).rejects.toThrow();
  },
);

it.runIf(process.platform === "linux")(
  "what has no room any more is not brought back",
  async () => {
    const path = await fileOf(MiB);
    let availableBytes = 2048 * MiB;
    const { keeper, event } = testKeeper(room().program, {
      host: async () => ({
        totalBytes: 4096 * MiB,
        availableBytes,
        containerLimitBytes: null,
        containerUsedBytes: null,
        lockableBytes: null,
      }),
    });
    await keeper.keep(path, { signal: never });
    availableBytes = 0;
    process.kill(keeper.summary().pid as number, "SIGKILL");
    expect(await event("lost")).toMatchObject({ path, reason: "no_room" });
    expect(await keeper.status()).toMatchObject([{ state: "lost", holders: 1 }]);
    expect(keeper.summary().takenBytes).toBe(0);
    await keeper.release(path);
    expect(await keeper.status()).toEqual([]);
  },
);
