import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { compiledRoom } from "./__fixtures__/other-process.js";
import { keptLog, load, tempDir } from "./__fixtures__/rows.js";
import { Connection } from "./connection.js";
import { openFile } from "./file.js";
import { MIGRATIONS } from "./migrations.js";
import { reloadTimes, saveLoad } from "./queries/model-loads.js";

const room = compiledRoom();

it("a file of a newer program does not keep a server from starting, and is not written to", async () => {
  const file = join(await tempDir(), "s.db");
  openFile(file).connection.close();
  const newer = new Connection(file);
  newer.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
  newer.close();
  const log = keptLog();
  const { openStoreOrMemory } = await room.face();
  const store = await openStoreOrMemory(file, log);
  onTestFinished(() => store.close());
  saveLoad(store, load(5));
  expect(await reloadTimes(store)).toMatchObject([{ medianMs: 5 }]);
  expect(store.status()).toMatchObject({ kept: "memory", file: null });
  expect(log.said).toEqual([
    [
      "error",
      expect.stringContaining("kept in memory"),
      { file, reason: expect.stringMatching(/newer Somnus/) },
    ],
  ]);
  const still = new Connection(file);
  expect(still.value("SELECT count(*) FROM model_loads")).toBe(0);
  still.close();
});
