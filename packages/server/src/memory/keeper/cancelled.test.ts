import { expect, it } from "vitest";
import { compiledRoom } from "./__fixtures__/compiled-room.js";
import { fileOf, never, seenFromOutside, slowFile, testKeeper } from "./__fixtures__/keeper.js";

const room = compiledRoom();

it.runIf(process.platform === "linux")(
  "a cancelled keeping ends in the middle and leaves nothing behind",
  async () => {
    const path = await slowFile();
    const { keeper } = testKeeper(room().program);
    const cancel = new AbortController();
    const reason = new Error("no longer wanted");
    const keeping = keeper.keep(path, { signal: cancel.signal, on: () => cancel.abort(reason) });
    await expect(keeping).rejects.toBe(reason);
    expect(await keeper.status()).toEqual([]);
    // Answered after the pages of the cancelled one were given back.
    const other = await fileOf(4096);
    await keeper.keep(other, { signal: never });
    await expect.poll(() => keeper.summary().takenBytes).toBe(4096);
    const seen = await seenFromOutside(keeper.summary().pid as number, path);
    expect(seen.mapsFile).toBe(false);
  },
);

it("one who leaves does not end it for another", async () => {
  const path = await slowFile();
  const { keeper } = testKeeper(room().program);
  const [first, second] = [new AbortController(), new AbortController()];
  let progressed = () => {};
  const progress = new Promise<void>((resolve) => {
    progressed = resolve;
  });
  const one = keeper.keep(path, { signal: first.signal, on: () => first.abort() });
  const two = keeper.keep(path, {
    signal: second.signal,
    on: () => first.signal.aborted && progressed(),
  });
  await expect(one).rejects.toThrow();
  await progress;
  expect(await keeper.status()).toMatchObject([{ state: "keeping", holders: 0 }]);
  second.abort();
  await expect(two).rejects.toThrow();
});

it("a signal that is given already starts nothing", async () => {
  const { keeper } = testKeeper(room().program);
  const signal = AbortSignal.abort(new Error("too late"));
  await expect(keeper.keep(await fileOf(4096), { signal })).rejects.toThrow("too late");
  expect(keeper.summary().pid).toBeNull();
});
