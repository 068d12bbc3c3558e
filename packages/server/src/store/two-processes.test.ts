import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compiledRoom, startProcess } from "./__fixtures__/other-process.js";
import { keptLog, load, tempDir } from "./__fixtures__/rows.js";
import { Connection } from "./connection.js";
import { openFile } from "./file.js";

const room = compiledRoom();

it("two processes write the same file and lose nothing of each other's", async () => {
  const file = join(await tempDir(), "s.db");
  const script = (name: string) => `
    const store = await room.openStore({ file: ${JSON.stringify(file)}, log });
    console.log("open");
    await new Promise((resolve) => process.stdin.once("data", resolve));
    const day = { from: 0, until: 9e12 };
    const granted = { limited: 0 };
    for (let round = 0; round < 20; round += 1) {
      store.append("model_loads", Array.from({ length: 100 }, (_, at) =>
        ({ model: "${name}", fromTier: "tier3_nvme_ssd", ms: 1, bytes: null, at: Date.now() })));
      const taken = await Promise.all(Array.from({ length: 20 }, () =>
        store.take({ name: "shared", window: day, limit: 500 }, 1)));
      granted.limited += taken.filter((one) => one.granted).length;
      await store.take({ name: "sum", window: day, limit: null }, 3);
      await store.flush();
    }
    await store.close();
    console.log(JSON.stringify({ granted: granted.limited, status: store.status() }));
    process.stdin.destroy();
  `;
  // Started together: both make the file.
  const both = ["a", "b"].map((name) => startProcess(room.path(), script(name)));
  for (const one of both) expect(await one.line()).toBe("open");
  for (const one of both) one.child.stdin?.write("go\n");
  const said = await Promise.all(both.map(async (one) => JSON.parse(await one.line())));
  for (const { status } of said) {
    expect(status).toMatchObject({ kept: "file", written: 2_000, dropped: {}, setAside: null });
  }
  expect(said[0].granted + said[1].granted).toBe(500);
  for (const one of both) expect(await one.ended).toBe(0);

  const { connection } = openFile(file);
  expect(connection.all("SELECT model, count(*) FROM model_loads GROUP BY 1 ORDER BY 1")).toEqual([
    ["a", 2_000],
    ["b", 2_000],
  ]);
  expect(connection.all("SELECT name, used FROM counters ORDER BY 1")).toEqual([
    ["shared", 500],
    ["sum", 120],
  ]);
  connection.close();
});

it("a file that another process holds keeps nobody waiting; the rows are written when it lets go", async () => {
  const file = join(await tempDir(), "s.db");
  const { openStore, reloadTimes } = await room.face();
  const log = keptLog();
  const store = await openStore({ file, log });
  const other = new Connection(file);
  other.exec("BEGIN IMMEDIATE");
  let ticks = 0;
  const ticking = setInterval(() => {
    ticks += 1;
  }, 5);
  store.append("model_loads", [load(1)]);
  // Three tries of two seconds each.
  await store.flush();
  clearInterval(ticking);
  expect(ticks).toBeGreaterThan(200);
  expect(store.status()).toMatchObject({ kept: "file", waiting: 1, written: 0, dropped: {} });
  other.exec("COMMIT");
  other.close();
  expect(await reloadTimes(store)).toHaveLength(1);
  expect(store.status()).toMatchObject({ waiting: 0, written: 1 });
  await store.close();
  expect(log.said).toEqual([]);
});

it("a damaged file met by two processes at once is put aside once", async () => {
  const file = join(await tempDir(), "s.db");
  await writeFile(file, Buffer.alloc(50_000, "q"));
  const script = `
    const store = await room.openStore({ file: ${JSON.stringify(file)}, log });
    room.saveServiceTimes(store, [{ model: String(process.pid), measure: "x", mean: 1, deviation: null, samples: 1, at: Date.now() }]);
    await store.flush();
    console.log(JSON.stringify(store.status()));
    await store.close();
  `;
  const several = [1, 2, 3].map(() => startProcess(room.path(), script));
  for (const one of several) {
    expect(JSON.parse(await one.line())).toMatchObject({ kept: "file", written: 1 });
    expect(await one.ended).toBe(0);
  }
  const aside = (await readdir(join(file, ".."))).filter((name) => /\.damaged-\w+$/.test(name));
  expect(aside).toHaveLength(1);
  const { connection } = openFile(file);
  expect(connection.value("SELECT count(*) FROM service_times")).toBe(3);
  connection.close();
});
