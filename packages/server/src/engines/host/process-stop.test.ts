import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createFakeEngine,
  type FakeEngine,
  type FakeScript,
} from "../../../test/fake-engine/index.js";
import { LoadError } from "../engine.js";
import { isRunning } from "../provisioning/__fixtures__/running.js";
import { engineEnvironment } from "./environment.js";
import { type HostedProcess, type ProcessSpec, startProcess } from "./process.js";

let fake: FakeEngine;
let hosted: HostedProcess | undefined;
beforeEach(async () => {
  fake = await createFakeEngine();
});
afterEach(async () => {
  await hosted?.stop("now");
  hosted = undefined;
  await fake.dispose();
});

async function start(script: FakeScript, more: Partial<ProcessSpec> = {}): Promise<HostedProcess> {
  await fake.script(script);
  hosted = await startProcess({
    program: fake.path,
    args: ["--host", "127.0.0.1", "--port", "0"],
    env: engineEnvironment(process.env, {}),
    ...more,
  });
  return hosted;
}

describe.skipIf(process.platform === "win32")("a hosted process", () => {
  it("ends when asked, and says so once it is gone", async () => {
    const lines: string[] = [];
    const own = await start({}, { onLine: (line) => lines.push(line) });
    await fake.happened((event) => event.event === "ready");
    await own.stop("drain");
    const exit = await own.exited;
    expect(exit).toMatchObject({ kind: "closed", code: 0, signal: null });
    expect(exit.log.at(-1)).toContain("cleaning up");
    expect(lines.some((line) => line.includes("model loaded"))).toBe(true);
    expect(() => process.kill(own.pid, 0)).toThrow();
    await own.stop("now");
  });

  it("is killed when it does not want to end", async () => {
    const own = await start({ ignoreTerm: true });
    await fake.happened((event) => event.event === "ready");
    const draining = own.stop("drain");
    await fake.happened((event) => event.event === "terminate");
    await own.stop("now");
    await draining;
    expect(await own.exited).toMatchObject({ kind: "closed", signal: "SIGKILL" });
  });

  it("is killed after the time to drain", async () => {
    const own = await start({ ignoreTerm: true }, { drainMs: 50 });
    await fake.happened((event) => event.event === "ready");
    await own.stop("drain");
    expect(await own.exited).toMatchObject({ kind: "closed", signal: "SIGKILL" });
  });

  it("ends with what a wrapper script started in its place", async () => {
    const folder = await mkdtemp(join(tmpdir(), "somnus-test-"));
    try {
      const wrapper = join(folder, "llama-server");
      await writeFile(wrapper, `#!/bin/sh\n"${fake.path}" "$@"\nexit $?\n`, { mode: 0o755 });
      for (const how of ["now", "drain"] as const) {
        const before = (await fake.journal()).length;
        const own = await start({}, { program: wrapper });
        const { pid } = await fake.happened((event) => event.event === "ready", before);
        expect(pid).not.toBe(own.pid);
        await own.stop(how);
        await expect.poll(() => isRunning(pid)).toBe(false);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("tells why it ended by itself, with its last words", async () => {
    const own = await start({ load: { die: { code: 1, lines: ["E failed to allocate buffer"] } } });
    const exit = await own.exited;
    expect(exit).toMatchObject({ kind: "out_of_memory", code: 1 });
    expect(exit.log.at(-1)).toBe("E failed to allocate buffer");
  });

  it("tells a signal that was not ours", async () => {
    const own = await start({ load: { die: { signal: "SIGKILL" } } });
    expect(await own.exited).toMatchObject({ kind: "signal", signal: "SIGKILL" });
  });

  it("is not started when the program is missing or may not be run", async () => {
    const spec = { args: [], env: {} };
    await expect(startProcess({ ...spec, program: "/nowhere/llama-server" })).rejects.toThrow(
      LoadError,
    );
    const script = fake.env.FAKE_ENGINE_SCRIPT as string;
    await expect(startProcess({ ...spec, program: script })).rejects.toThrow(/may not be run/);
  });
});
