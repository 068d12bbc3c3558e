import { join } from "node:path";
import { expect, it } from "vitest";
import { compiledRoom, startProcess } from "./__fixtures__/other-process.js";
import { tempDir } from "./__fixtures__/rows.js";
import { openFile } from "./file.js";

const room = compiledRoom();

it.each([1, 2, 3])(
  "a process that is killed loses at most the last second and leaves nothing half written (%d)",
  async () => {
    const file = join(await tempDir(), "s.db");
    // Each number goes into two tables as a whole; the second row is as long as several pages.
    const victim = startProcess(
      room.path(),
      `
      const store = await room.openStore({ file: ${JSON.stringify(file)}, log });
      let n = 0;
      setInterval(() => {
        for (let end = n + 7; n < end; n += 1) store.together([
          { table: "model_loads", rows: [{ model: "m", fromTier: "tier3_nvme_ssd", ms: n, bytes: null, at: Date.now() }] },
          { table: "service_times", rows: [{ model: "x".repeat(9000), measure: String(n), mean: n, deviation: null, samples: 1, at: Date.now() }] },
        ]);
        console.log(n + " " + Date.now());
      }, 10);
    `,
    );
    const seen: { n: number; at: number }[] = [];
    const enough = 1_800 + Math.random() * 700;
    for (;;) {
      const [n, at] = (await victim.line()).split(" ").map(Number) as [number, number];
      seen.push({ n, at });
      if (at - (seen[0]?.at ?? at) > enough) break;
    }
    const killedAt = Date.now();
    victim.child.kill("SIGKILL");
    expect(await victim.ended).toBe("SIGKILL");

    const { connection, setAside } = openFile(file);
    expect(setAside).toBeNull();
    expect(connection.value("PRAGMA integrity_check")).toBe("ok");
    const loads = connection.all("SELECT ms FROM model_loads ORDER BY ms").flat();
    const times = connection.all("SELECT mean FROM service_times ORDER BY mean").flat();
    expect(times).toEqual(loads);
    expect(loads).toEqual(loads.map((_, index) => index));
    const due = seen.filter(({ at }) => at < killedAt - 1_000).at(-1);
    expect(loads.length).toBeGreaterThanOrEqual(due?.n ?? 1);
    connection.close();
  },
);

it("a process that ends by itself after closing has written everything, and is not kept alive", async () => {
  const file = join(await tempDir(), "s.db");
  const one = startProcess(
    room.path(),
    `
    const store = await room.openStore({ file: ${JSON.stringify(file)}, log });
    for (let n = 0; n < 3000; n += 1) room.saveLoad(store, { model: "m", fromTier: "tier3_nvme_ssd", ms: n, bytes: null, at: Date.now() });
    const [first, second] = [store.close(), store.close()];
    await first; await second;
  `,
  );
  expect(await one.ended).toBe(0);
  const { connection } = openFile(file);
  expect(connection.value("SELECT count(*) FROM model_loads")).toBe(3_000);
  connection.close();
});

it("a store that nobody closes does not keep the process alive", async () => {
  const file = join(await tempDir(), "s.db");
  const one = startProcess(
    room.path(),
    `
    const store = await room.openStore({ file: ${JSON.stringify(file)}, log });
    room.saveLoad(store, { model: "m", fromTier: "tier3_nvme_ssd", ms: 1, bytes: null, at: 1 });
    console.log((await room.reloadTimes(store)).length);
  `,
  );
  expect(await one.line()).toBe("1");
  expect(await one.ended).toBe(0);
});
