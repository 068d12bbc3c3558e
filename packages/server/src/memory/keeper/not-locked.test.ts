import { chmod, open } from "node:fs/promises";
import { dirname } from "node:path";
import koffi from "koffi";
import { describe, expect, it } from "vitest";
import { afterShell, asNobody } from "../../../test/other-process/index.js";
import { compiledRoom, elsewhere } from "./__fixtures__/compiled-room.js";
import { fileOf, MiB } from "./__fixtures__/keeper.js";
import type { KeptStatus } from "./index.js";

const room = compiledRoom();
const asRoot = process.platform === "linux" && process.getuid?.() === 0;
/** An ordinary user without capabilities who may lock 64 KiB; also where we are root. */
const ORDINARY = [
  ...asNobody,
  ...(asRoot ? ["--inh-caps=-all", "--"] : []),
  ...afterShell("ulimit -l 64"),
];

async function readableFile(bytes: number, name?: string): Promise<string> {
  const path = await fileOf(bytes, name);
  await chmod(dirname(path), 0o755);
  await chmod(path, 0o644);
  return path;
}

/** Has the system forget the pages of a file that nobody maps. */
async function forgetPages(path: string): Promise<void> {
  const file = await open(path, "r");
  const advise = koffi
    .load(null)
    .func("posix_fadvise", "int", ["int", "int64_t", "int64_t", "int"]);
  const DONTNEED = 4;
  expect(advise(file.fd, 0, 0, DONTNEED)).toBe(0);
  await file.close();
}

describe.runIf(process.platform === "linux")("where the user may lock less than a file has", () => {
  it("the rest is in memory without being locked, and that shows", async () => {
    const [path, other] = [await readableFile(5 * MiB), await readableFile(MiB, "other.gguf")];
    const there = elsewhere(
      room(),
      "memory/keeper/index.js",
      `const keeper = room.createKeeper({ budgetBytes: 1e9, log });
       tell(await keeper.keep(${JSON.stringify(path)}, { signal }));
       tell(await keeper.keep(${JSON.stringify(other)}, { signal }));
       await keeper.release(${JSON.stringify(path)});
       const { readFile } = await import("node:fs/promises");
       let status;
       do [status] = await keeper.status(); while (status.lockedBytes === 0);
       tell(status);
       const text = await readFile("/proc/" + keeper.summary().pid + "/status", "latin1");
       tell(Number(/VmLck:\\s+(\\d+)/.exec(text)[1]) * 1024);
       await keeper.close();`,
      ORDINARY,
    );
    const reason =
      "The system lets this user lock 65536 bytes (ulimit -l); the rest was read into memory, but is not locked.";
    expect(await there.next<KeptStatus>()).toMatchObject({
      bytes: 5 * MiB,
      residentBytes: 5 * MiB,
      lockedBytes: 65536,
      reason,
    });
    expect(await there.next<KeptStatus>()).toMatchObject({
      bytes: MiB,
      residentBytes: MiB,
      lockedBytes: 0,
      reason,
    });
    // What the first one gave back is used for the other.
    expect(await there.next<KeptStatus>()).toMatchObject({ lockedBytes: 65536, reason });
    expect(await there.next<number>()).toBe(65536);
    await there.ended;
  });

  it.runIf(asRoot)("pages of somebody else's file are counted as they are", async () => {
    const path = await readableFile(4 * MiB);
    await forgetPages(path);
    const there = elsewhere(
      room(),
      "memory/keeper/child/kept-file.js",
      `const { loadMemoryCalls } = await import(${JSON.stringify(`${room().folder}/memory/keeper/child/memory-calls.js`)});
       const { identify } = await import(${JSON.stringify(`${room().folder}/memory/keeper/refusal.js`)});
       const path = ${JSON.stringify(path)};
       const order = { path, identity: await identify(path), sha256: null };
       const calls = await loadMemoryCalls();
       const file = await room.KeptFile.open(order, calls, "");
       tell(await file.measure());
       await file.bringIn(() => {}, signal);
       tell(await file.measure());
       await file.close();`,
      ORDINARY,
    );
    expect(await there.next()).toEqual({ resident: 0, locked: 0 });
    expect(await there.next()).toEqual({ resident: 4 * MiB, locked: 65536 });
    await there.ended;
  });
});
