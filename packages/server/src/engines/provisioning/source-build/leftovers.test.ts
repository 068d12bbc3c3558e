import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, test } from "vitest";
import { ownIdentity, writeIdentity } from "../../../processes/index.js";
import { sweepLeftovers, workFolderName } from "./leftovers.js";

test("work folders of dead builders are removed; those of the living and all else stay", async () => {
  const folder = await mkdtemp(join(tmpdir(), "somnus-test-"));
  try {
    const gone = spawn(process.execPath, ["-e", ""]);
    await once(gone, "exit");
    const own = await ownIdentity();
    const dead = `.build-${writeIdentity({ ...own, pid: gone.pid as number })}-0badcafe`;
    const elsewhere = `.build-${writeIdentity({ ...own, realm: "00000000" })}-0badcafe`;
    const forgotten = `.build-${writeIdentity({ ...own, realm: "00000000" })}-deadbeef`;
    const living = await workFolderName();
    await mkdir(join(folder, dead, "source", "deep"), { recursive: true });
    for (const name of [living, elsewhere, forgotten]) await mkdir(join(folder, name));
    const longAgo = new Date(Date.now() - 25 * 3_600_000);
    for (const name of [living, forgotten]) await utimes(join(folder, name), longAgo, longAgo);
    await mkdir(join(folder, "11434-linux-x64-0123456789ab"));
    await sweepLeftovers(folder, pino({ level: "silent" }));
    expect((await readdir(folder)).sort()).toEqual(
      [living, elsewhere, "11434-linux-x64-0123456789ab"].sort(),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
