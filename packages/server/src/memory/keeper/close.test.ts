import { expect, it } from "vitest";
import { compiledRoom } from "./__fixtures__/compiled-room.js";
import { fileOf, never, slowFile, testKeeper } from "./__fixtures__/keeper.js";

const room = compiledRoom();

it("closing ends what is under way and the process, and nothing is kept afterwards", async () => {
  const { keeper, events } = testKeeper(room().program);
  const path = await fileOf(4096);
  await keeper.keep(path, { signal: never });
  const pid = keeper.summary().pid as number;
  let begun = () => {};
  const progress = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const keeping = keeper.keep(await slowFile(), { signal: never, on: () => begun() });
  await progress;
  const [outcome] = await Promise.allSettled([keeping, keeper.close(), keeper.close()]);
  expect(outcome).toMatchObject({ status: "rejected", reason: { code: "shutting_down" } });
  expect(() => process.kill(pid, 0)).toThrow();
  await expect(keeper.keep(path, { signal: never })).rejects.toMatchObject({
    code: "shutting_down",
  });
  await keeper.release(path);
  expect(await keeper.status()).toEqual([]);
  expect(keeper.summary()).toMatchObject({ pid: null, takenBytes: 0 });
  expect(events).toEqual([]);
});

it("a keeper that was not used, or is just being started, closes as well", async () => {
  await testKeeper(room().program).keeper.close();
  const { keeper } = testKeeper(room().program);
  const [outcome] = await Promise.allSettled([
    keeper.keep(await fileOf(4096), { signal: never }),
    keeper.close(),
  ]);
  expect(outcome).toMatchObject({ status: "rejected", reason: { code: "shutting_down" } });
});
