import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compiledRoom } from "./__fixtures__/other-process.js";
import { keptLog, load, tempDir } from "./__fixtures__/rows.js";
import { reloadTimes } from "./index.js";

const room = compiledRoom();
const WINDOW = { from: 0, until: 10 };

it("a thread that ends in use, and one that does not start, leave the store in memory, which says why", async () => {
  const dir = await tempDir();
  const thread = join(room.path(), "store", "thread.js");
  const source = await readFile(thread, "utf8");
  const ending = source.replace(
    "function answer(asked) {",
    '$& if (asked.call === "take") process.exit(3);',
  );
  expect(ending).not.toBe(source);
  await writeFile(thread, ending);
  const { openStore } = await room.face();
  const log = keptLog();
  const store = await openStore({ file: join(dir, "s.db"), log });
  store.append("model_loads", [load(1)]);
  await store.flush();
  await expect(store.take({ name: "a", window: WINDOW, limit: null }, 1)).rejects.toMatchObject({
    code: "internal",
  });
  store.append("model_loads", [load(2)]);
  await store.flush();
  expect(store.status()).toMatchObject({
    kept: "memory",
    reason: expect.stringContaining("thread ended (3)"),
    waiting: 0,
    written: 2,
  });
  expect((await reloadTimes(store)).map(({ lastMs }) => lastMs)).toEqual([2]);
  expect(await store.take({ name: "a", window: WINDOW, limit: null }, 1)).toMatchObject({
    used: 1,
  });
  await store.close();
  expect(log.said.filter(([level]) => level === "warn")).toHaveLength(1);

  await rm(thread);
  const never = await openStore({ file: join(dir, "s.db"), log: keptLog() });
  never.append("model_loads", [load(3)]);
  expect(await reloadTimes(never)).toHaveLength(1);
  expect(never.status()).toMatchObject({
    kept: "memory",
    reason: expect.stringContaining("thread"),
  });
  await never.close();
});
