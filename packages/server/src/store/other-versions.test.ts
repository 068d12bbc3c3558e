import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "./__fixtures__/rows.js";
import { Connection } from "./connection.js";
import { openFile } from "./file.js";
import { Ledger } from "./ledger.js";
import { MIGRATIONS } from "./migrations.js";

const version = (connection: Connection) => connection.value("PRAGMA user_version");

it("a new file and an empty one get today's tables, and an opened one is not changed again", async () => {
  const file = join(await tempDir(), "deep", "er", "s.db");
  const first = openFile(file);
  expect(version(first.connection)).toBe(MIGRATIONS.length);
  first.connection.exec("INSERT INTO service_times VALUES ('m', 'service_ms', 1.5, NULL, 1, 2)");
  first.connection.close();
  const second = openFile(file);
  expect(second.setAside).toBeNull();
  expect(second.connection.newest("service_times", 9)).toEqual([
    ["m", "service_ms", 1.5, null, 1, 2],
  ]);
  second.connection.close();
});

it("a file of a newer program is refused with what to do, and left as it is", async () => {
  const file = join(await tempDir(), "s.db");
  openFile(file).connection.close();
  const newer = new Connection(file);
  newer.exec("CREATE TABLE novelty (x)");
  newer.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
  newer.close();
  expect(() => new Ledger(file, () => {})).toThrow(
    expect.objectContaining({
      code: "conflict",
      message: expect.stringMatching(/newer Somnus.*Start the newer one, or move the file away/),
    }),
  );
  const still = new Connection(file);
  expect(version(still)).toBe(MIGRATIONS.length + 1);
  expect(still.value("SELECT count(*) FROM novelty")).toBe(0);
  still.close();
});
