import { expect, it } from "vitest";
import type { HostMemory } from "../machine.js";
import { compiledRoom } from "./__fixtures__/compiled-room.js";
import { fileOf, MiB, never, testKeeper } from "./__fixtures__/keeper.js";

const room = compiledRoom();

it("a file over the budget is refused with the numbers, and fits when another was released", async () => {
  const [first, second] = [await fileOf(2 * MiB, "first.gguf"), await fileOf(2 * MiB)];
  const { keeper } = testKeeper(room().program, { budgetBytes: 3 * MiB });
  await keeper.keep(first, { signal: never });
  await expect(keeper.keep(second, { signal: never })).rejects.toMatchObject({
    code: "insufficient_memory",
    message:
      "Keeping weights.gguf in memory takes 2 MiB, but of the 3 MiB for kept files 2 MiB are taken. Release another one, or raise the budget.",
  });
  expect(await keeper.status()).toMatchObject([{ path: first, state: "kept" }]);
  // Not awaited: what is being given back is waited for.
  const released = keeper.release(first);
  await expect(keeper.keep(second, { signal: never })).resolves.toMatchObject({ state: "kept" });
  await released;
  expect(keeper.summary().takenBytes).toBe(2 * MiB);
});

const host: HostMemory = {
  totalBytes: 8192 * MiB,
  availableBytes: 4096 * MiB,
  containerLimitBytes: null,
  containerUsedBytes: null,
  lockableBytes: null,
};

it.each([
  ["the machine", { availableBytes: 257 * MiB }],
  ["the container", { containerLimitBytes: 600 * MiB, containerUsedBytes: 343 * MiB }],
])("a file is refused when %s has no room for it now", async (place, full) => {
  let now: HostMemory = { ...host, ...full };
  const { keeper } = testKeeper(room().program, { host: async () => now });
  const path = await fileOf(2 * MiB);
  await expect(keeper.keep(path, { signal: never })).rejects.toMatchObject({
    code: "insufficient_memory",
    message: expect.stringContaining(`takes 2 MiB, but ${place} has 1 MiB to spare`),
  });
  now = host;
  await expect(keeper.keep(path, { signal: never })).resolves.toMatchObject({ state: "kept" });
});
