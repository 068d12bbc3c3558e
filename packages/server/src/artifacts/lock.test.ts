import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ownIdentity } from "../processes/index.js";
import { compiledRoom, startProcess } from "./__fixtures__/other-process.js";
import { tempDir } from "./__fixtures__/temp-dir.js";
import { withLock } from "./index.js";

const room = compiledRoom();

const never = new AbortController().signal;

const holder = (path: string) => `
  await room.withLock(${JSON.stringify(path)}, { signal: new AbortController().signal }, async () => {
    console.log("held");
    for await (const _ of process.stdin);
  });
  console.log("released");
`;

async function free(path: string): Promise<boolean> {
  return readdir(path).then(
    () => false,
    () => true,
  );
}

describe("a lock", () => {
  it("lets one caller in at a time, in order, and leaves nothing behind", async () => {
    const path = join(await tempDir(), "deep", "x.lock");
    const order: string[] = [];
    let inside = 0;
    const enter = (name: string) =>
      withLock(path, { signal: never }, async () => {
        inside += 1;
        expect(inside).toBe(1);
        order.push(name);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
        return name;
      });
    expect(await Promise.all(["a", "b", "c", "d"].map(enter))).toEqual(["a", "b", "c", "d"]);
    expect(order.toSorted()).toEqual(["a", "b", "c", "d"]);
    expect(await free(path)).toBe(true);
  });

  it("is released when the work throws", async () => {
    const path = join(await tempDir(), "x.lock");
    const failure = new Error("work failed");
    await expect(withLock(path, { signal: never }, () => Promise.reject(failure))).rejects.toBe(
      failure,
    );
    expect(await free(path)).toBe(true);
  });

  it("stops waiting when aborted, and keeps the holder's lock", async () => {
    const path = join(await tempDir(), "x.lock");
    const stop = new AbortController();
    const reason = new Error("tired of waiting");
    await withLock(path, { signal: never }, async () => {
      const waiting = withLock(
        path,
        { signal: stop.signal, onWait: () => stop.abort(reason) },
        async () => "in",
      );
      await expect(waiting).rejects.toBe(reason);
      expect(await readdir(path)).toHaveLength(1);
    });
    expect(await free(path)).toBe(true);
  });

  it("waits for a living process and names it", async () => {
    const path = join(await tempDir(), "x.lock");
    const other = startProcess(room(), holder(path));
    expect(await other.line()).toBe("held");
    const seen: unknown[] = [];
    await withLock(
      path,
      {
        signal: never,
        onWait: (who) => {
          seen.push(who);
          other.child.stdin?.end();
        },
      },
      async () => {
        expect(await other.line()).toBe("released");
      },
    );
    expect(seen).toEqual([{ pid: other.child.pid }]);
  });

  it("is taken over at once from a process that was killed", async () => {
    const path = join(await tempDir(), "x.lock");
    const other = startProcess(room(), holder(path));
    expect(await other.line()).toBe("held");
    other.child.kill("SIGKILL");
    await other.ended;
    const begin = performance.now();
    await withLock(path, { signal: never }, async () => {});
    expect(performance.now() - begin).toBeLessThan(2_000);
    expect(await free(path)).toBe(true);
  });

  it.runIf(process.platform === "linux")(
    "is taken over when the owner's process id belongs to another process by now",
    async () => {
      const path = join(await tempDir(), "x.lock");
      const me = await ownIdentity();
      await mkdir(path);
      const stale = [1, process.ppid, "1", me.realm, "0123456789ab"].join(".");
      await writeFile(join(path, stale), "");
      const waited: unknown[] = [];
      await withLock(path, { signal: never, onWait: (who) => waited.push(who) }, async () => {
        expect(await readdir(path)).not.toContain(stale);
      });
      expect(waited).toEqual([]);
    },
  );

  it("is never held by two processes at once, also while holders are killed", async () => {
    const dir = await tempDir();
    const path = join(dir, "x.lock");
    const script = `
      import { mkdir, rmdir } from "node:fs/promises";
      const inside = ${JSON.stringify(join(dir, "inside-"))};
      const { readdir } = await import("node:fs/promises");
      for (let round = 0; round < 8; round += 1) {
        await room.withLock(${JSON.stringify(path)}, { signal: new AbortController().signal }, async () => {
          const mine = inside + process.pid;
          await mkdir(mine);
          const others = (await readdir(${JSON.stringify(dir)})).filter((name) => name.startsWith("inside-"));
          for (const name of others) {
            const pid = Number(name.slice(7));
            if (pid === process.pid) continue;
            try { process.kill(pid, 0); console.log("two inside"); } catch {}
          }
          await new Promise((resolve) => setTimeout(resolve, 2));
          await rmdir(mine);
        });
      }
      console.log("done");
    `;
    const workers = [1, 2, 3].map(() => startProcess(room(), script));
    const victim = startProcess(room(), holder(path));
    const said = await Promise.all([
      ...workers.map((worker) => worker.line()),
      victim.line().then(async (line) => {
        victim.child.kill("SIGKILL");
        await victim.ended;
        return line;
      }),
    ]);
    expect(said).toEqual(["done", "done", "done", "held"]);
    expect(await free(path)).toBe(true);
  });
});
