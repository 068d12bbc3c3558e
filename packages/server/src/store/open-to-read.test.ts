import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compiledRoom } from "./__fixtures__/other-process.js";
import { keptLog, load, tempDir } from "./__fixtures__/rows.js";
import { openStoreToRead } from "./open-to-read.js";
import { reloadTimes, saveLoad } from "./queries/model-loads.js";

const LOAD = load(5, { at: Date.now() });

const room = compiledRoom();

it("reads what a store that is open has written, and changes nothing", async () => {
  const file = join(await tempDir(), "s.db");
  const { openStore } = await room.face();
  const store = await openStore({ file, log: keptLog() });
  saveLoad(store, LOAD);
  await store.flush();
  const reader = await openStoreToRead(file);
  const told = await reader!.ask({
    sql: "SELECT model, ms FROM model_loads",
    values: [],
    read: (rows) => rows,
  });
  expect(told).toEqual([["m", 5]]);
  await expect(
    reader!.ask({ sql: "DELETE FROM model_loads RETURNING id", values: [], read: (rows) => rows }),
  ).rejects.toThrow(/readonly/);
  reader!.close();
  saveLoad(store, { ...LOAD, model: "other" });
  await store.flush();
  expect(await reloadTimes(store)).toHaveLength(2);
  await store.close();
  const bytes = await readFile(file);
  const again = await openStoreToRead(file);
  again!.close();
  expect(await readFile(file)).toEqual(bytes);
});

it("is null where there is nothing to read", async () => {
  const dir = await tempDir();
  expect(await openStoreToRead(join(dir, "none.db"))).toBeNull();
  await writeFile(
    join(dir, "text.db"),
    "no database at all, but long enough to look like a header of one.".repeat(20),
  );
  expect(await openStoreToRead(join(dir, "text.db"))).toBeNull();
});
