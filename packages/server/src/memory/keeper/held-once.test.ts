import { link, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { compiledRoom } from "./__fixtures__/compiled-room.js";
import { fileOf, MiB, never, testKeeper } from "./__fixtures__/keeper.js";

const room = compiledRoom();

it("a file that is kept several times, under whatever paths, is held once and until the last release", async () => {
  const path = await fileOf(MiB);
  const soft = join(dirname(path), "soft.gguf");
  const hard = join(dirname(path), "hard.gguf");
  await symlink(path, soft);
  await link(path, hard);
  const { keeper } = testKeeper(room().program);
  const paths = [path, soft, path, hard];
  const kept = await Promise.all(paths.map((each) => keeper.keep(each, { signal: never })));
  expect(kept.map((each) => each.path)).toEqual(paths);
  expect(keeper.summary().takenBytes).toBe(MiB);
  expect(await keeper.status()).toMatchObject([{ state: "kept", holders: 4 }]);
  expect((await keeper.keep(soft, { signal: never })).tookMs).toBe(0);
  for (const each of [soft, hard, path, soft]) await keeper.release(each);
  // Not held under that path any more: no release of the others.
  await keeper.release(hard);
  expect(await keeper.status()).toMatchObject([{ state: "kept", holders: 1 }]);
  await keeper.release(path);
  expect(await keeper.status()).toEqual([]);
});
