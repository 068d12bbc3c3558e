import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, test } from "vitest";
import { sweepLeftovers, workFolderName } from "./leftovers.js";

test("work folders of dead builders are removed; those of the living and all else stay", async () => {
  const folder = await mkdtemp(join(tmpdir(), "somnus-test-"));
  try {
    const gone = spawn(process.execPath, ["-e", ""]);
    await once(gone, "exit");
    const dead = `.build-${gone.pid}-0badcafe`;
    const living = workFolderName();
    await mkdir(join(folder, dead, "source", "deep"), { recursive: true });
    await mkdir(join(folder, living));
    await mkdir(join(folder, "11434-linux-x64-0123456789ab"));
    await sweepLeftovers(folder, pino({ level: "silent" }));
    expect((await readdir(folder)).sort()).toEqual([living, "11434-linux-x64-0123456789ab"].sort());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
