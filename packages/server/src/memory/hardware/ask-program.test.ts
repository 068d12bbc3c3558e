import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { programs, temporaryFolder } from "../../processes/__fixtures__/system.js";
import { askProgram } from "./ask-program.js";

const never = new AbortController().signal;
/** Another process is waited for. */
const POLLING = { timeout: 15_000 };
const options = { signal: never, timeoutMs: 20_000 };

describe.runIf(process.platform !== "win32")("asking a program", () => {
  it("gives what it prints and how it ended", async () => {
    const env = await programs({ tell: 'echo "$1"; echo trouble >&2; exit 3' });
    expect(await askProgram(join(env.PATH, "tell"), ["a b"], { env, ...options })).toEqual({
      ...{ kind: "ended", code: 3, stdout: "a b\n", stderr: "trouble\n" },
    });
  });

  it("tells when it cannot be started", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "text"), "");
    const answer = await askProgram(join(folder, "text"), [], { env: { PATH: "" }, ...options });
    expect(answer).toMatchObject({ kind: "failed" });
  });

  it("kills one that takes too long with what it has started", async () => {
    const folder = await temporaryFolder();
    const env = await programs({
      hang: `/bin/sleep 600 & echo $! > ${folder}/child; while :; do /bin/sleep 600; done`,
    });
    const answer = await askProgram(join(env.PATH, "hang"), [], {
      ...options,
      env,
      timeoutMs: 500,
    });
    expect(answer).toEqual({ kind: "slow" });
    const child = Number(await readFile(join(folder, "child"), "utf8"));
    await expect.poll(() => isRunning(child), POLLING).toBe(false);
  });

  it("does not start it again while an earlier one still hangs", async () => {
    const folder = await temporaryFolder();
    const env = await programs({ stuck: `echo $$ >> ${folder}/log; exec /bin/sleep 600` });
    const started = async () => (await readFile(join(folder, "log"), "utf8")).trim().split("\n");
    const stuck = join(env.PATH, "stuck");
    const first = askProgram(stuck, [], { ...options, env, timeoutMs: 1_500 });
    // Out of reach of a kill, as one that waits for a broken device is.
    const kill = vi.spyOn(process, "kill").mockReturnValue(true);
    try {
      expect(await first).toEqual({ kind: "slow" });
      expect(await askProgram(stuck, [], { ...options, env })).toEqual({ kind: "slow" });
      expect(await started()).toHaveLength(1);
    } finally {
      kill.mockRestore();
      process.kill(Number((await started())[0]), "SIGKILL");
    }
    await expect
      .poll(async () => {
        await askProgram(stuck, [], { ...options, env, timeoutMs: 1_500 });
        return (await started()).length;
      }, POLLING)
      .toBe(2);
  });

  it("is not begun for one who has left", async () => {
    const folder = await temporaryFolder();
    const env = await programs({ leave: `echo > ${folder}/trace` });
    const signal = AbortSignal.abort(new Error("gone"));
    const asking = askProgram(join(env.PATH, "leave"), [], { ...options, env, signal });
    await expect(asking).rejects.toThrow("gone");
    await expect(access(join(folder, "trace"))).rejects.toThrow();
  });
});

/** Whether a process still runs; one that nobody has collected yet does not. */
async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => null);
  if (stat !== null) return !/\) [ZX] /.test(stat);
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
