import { execFileSync } from "node:child_process";
import { chmod, chown, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { afterShell, asNobody } from "../../test/other-process/index.js";
import { compiledRoom, startProcess } from "./__fixtures__/other-process.js";
import { tempDir } from "./__fixtures__/rows.js";
import { openFile } from "./file.js";

const room = compiledRoom();

const root = process.getuid?.() === 0;

const SAVE = `room.saveLoad(store, { model: "m", fromTier: "tier3_nvme_ssd", ms: 5, bytes: null, at: Date.now() });`;

describe.skipIf(process.platform !== "linux")("a folder that this user may not write", () => {
  it("has memory in its place, says so, and comes into use when it can be written", async () => {
    const dir = join(await tempDir(), "data");
    await mkdir(dir, { mode: 0o555 });
    await chmod(join(dir, ".."), 0o755);
    const one = startProcess(
      room.path(),
      `
      const store = await room.openStore({ file: ${JSON.stringify(join(dir, "store", "s.db"))}, log, tendEveryMs: 50 });
      ${SAVE}
      console.log(JSON.stringify([await room.reloadTimes(store), store.status()]));
      await new Promise((resolve) => process.stdin.once("data", resolve));
      while (store.status().kept === "memory") await new Promise((resolve) => setTimeout(resolve, 20));
      console.log(JSON.stringify([await room.reloadTimes(store), store.status()]));
      await store.close();
      process.stdin.destroy();
    `,
      asNobody,
    );
    const [times, status] = JSON.parse(await one.line());
    expect(times).toHaveLength(1);
    expect(status).toMatchObject({
      kept: "memory",
      reason: expect.stringContaining("EACCES"),
      unsaved: 1,
    });
    await chmod(dir, 0o755);
    if (root) await chown(dir, 65534, 65534);
    one.child.stdin?.write("go\n");
    const [later, then] = JSON.parse(await one.line());
    expect(later).toHaveLength(1);
    expect(then).toMatchObject({ kept: "file", reason: null, unsaved: 0 });
    expect(await one.ended).toBe(0);
  });

  it.each([
    ["with", 0o444],
    ["without", 0o000],
  ])("still tells what its file holds, %s what SQLite keeps beside it", async (_, companions) => {
    const dir = await tempDir();
    const file = join(dir, "s.db");
    const { connection } = openFile(file);
    const at = Date.now();
    connection.exec(`INSERT INTO service_times VALUES ('m', 'service_ms', 1.5, NULL, 1, ${at})`);
    connection.close();
    await chmod(file, 0o444);
    for (const name of await readdir(dir)) {
      if (name !== "s.db") await chmod(join(dir, name), companions);
    }
    await chmod(dir, 0o555);
    const one = startProcess(
      room.path(),
      `
      const store = await room.openStore({ file: ${JSON.stringify(file)}, log });
      console.log(JSON.stringify([await room.serviceTimes(store), store.status()]));
      await store.close();
    `,
      asNobody,
    );
    const [times, status] = JSON.parse(await one.line());
    await chmod(dir, 0o755);
    expect(status).toMatchObject({ kept: "memory", reason: expect.any(String), unsaved: 0 });
    expect(times).toEqual([
      { model: "m", measure: "service_ms", mean: 1.5, deviation: null, samples: 1, at },
    ]);
    expect(await one.ended).toBe(0);
  });
});

describe.skipIf(process.platform !== "linux")("a disk without room", () => {
  it("has memory in its place with what the file held, and gets the rows when there is room", async () => {
    const file = join(await tempDir(), "s.db");
    // A limit on the size of files stands for the disk: it can be lifted from outside.
    const one = startProcess(
      room.path(),
      `
      const store = await room.openStore({ file: ${JSON.stringify(file)}, log, tendEveryMs: 50 });
      ${SAVE}
      await store.flush();
      const many = () => store.append("model_loads", Array.from({ length: 200 }, (_, at) =>
        ({ model: "x".repeat(2000) + at, fromTier: "tier3_nvme_ssd", ms: 1, bytes: null, at: Date.now() })));
      const said = async () => console.log(JSON.stringify([(await room.reloadTimes(store)).length, store.status()]));
      await said();
      many();
      await store.flush();
      await said();
      await new Promise((resolve) => process.stdin.once("data", resolve));
      while (store.status().kept === "memory") await new Promise((resolve) => setTimeout(resolve, 20));
      await said();
      await store.close();
      process.stdin.destroy();
    `,
      afterShell("trap '' XFSZ; ulimit -S -f 300"),
    );
    expect(JSON.parse(await one.line())).toMatchObject([1, { kept: "file" }]);
    expect(JSON.parse(await one.line())).toMatchObject([
      201,
      { kept: "memory", written: 201, unsaved: 200, dropped: {}, refused: 0 },
    ]);
    execFileSync("prlimit", ["--pid", String(one.child.pid), "--fsize=unlimited:"]);
    one.child.stdin?.write("go\n");
    expect(JSON.parse(await one.line())).toMatchObject([201, { kept: "file", unsaved: 0 }]);
    expect(await one.ended).toBe(0);
    const { connection } = openFile(file);
    expect(connection.value("SELECT count(*) FROM model_loads")).toBe(201);
    connection.close();
  });
});
