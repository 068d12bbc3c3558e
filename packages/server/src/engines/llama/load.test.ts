import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeEngine, type FakeEngine } from "../../../test/fake-engine/index.js";
import type { GgufSummary } from "../../gguf/index.js";
import { createLog } from "../../observe/index.js";
import {
  LoadError,
  type Loaded,
  type LoadPhase,
  type LoadPlan,
  type ModelSpec,
} from "../engine.js";
import { createLlamaEngine, type LlamaOptions } from "./index.js";

const model: ModelSpec = { id: "m", weightsPath: "/models/m.gguf", gguf: {} as GgufSummary };
const plan: LoadPlan = {
  slots: 2,
  contextTokens: 2048,
  gpuLayers: "auto",
  cpuExpertLayers: 0,
  threads: 1,
};

let fake: FakeEngine;
let runtimeDir: string;
let loaded: Loaded[];
beforeEach(async () => {
  fake = await createFakeEngine();
  runtimeDir = await mkdtemp(join(tmpdir(), "run-"));
  loaded = [];
});
afterEach(async () => {
  await Promise.all(loaded.map((one) => one.close("now")));
  await rm(runtimeDir, { recursive: true, force: true });
  await fake.dispose();
});

function engine(options: Partial<LlamaOptions> = {}) {
  return createLlamaEngine({
    binary: async () => ({ path: fake.path, version: "11434" }),
    runtimeDir,
    stallMs: 20_000,
    loadTimeoutMs: 20_000,
    log: createLog("silent"),
    ...options,
  });
}

async function load(options: Partial<LlamaOptions> = {}, signal = new AbortController().signal) {
  const phases: LoadPhase[] = [];
  const one = await engine(options).load(model, plan, (phase) => phases.push(phase), signal);
  loaded.push(one);
  return { one, phases };
}

async function failure(options: Partial<LlamaOptions> = {}): Promise<LoadError> {
  const error = await load(options).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(LoadError);
  return error as LoadError;
}

const isGone = (pid: number) => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

describe.skipIf(process.platform === "win32")("a load", () => {
  it("goes through its phases and tells what was measured", async () => {
    const { one, phases } = await load();
    expect(phases).toEqual(["starting", "weights", "context", "warmup", "ready"]);
    expect(one.facts).toMatchObject({
      version: "llama.cpp 11434",
      slots: 2,
      contextTokens: 2048,
      template: { systemRole: true, tools: false, reasoning: false },
      load: { loadMode: "mmap" },
    });
    expect(one.facts.load.totalMs).toBeGreaterThan(0);
    await one.close("drain");
    expect(await one.exited).toMatchObject({ kind: "closed", code: 0 });
    expect(await readdir(runtimeDir)).toEqual([]);
  });

  it("hands on how threads wait, and keeps secrets back", async () => {
    process.env.HF_TOKEN = "secret";
    try {
      await load({ waitPolicy: "passive" });
    } finally {
      delete process.env.HF_TOKEN;
    }
    const start = (await fake.journal()).find((event) => event.event === "start");
    expect(start?.env).toEqual({
      OMP_WAIT_POLICY: "passive",
      GGML_NO_BACKTRACE: "1",
      secret: null,
    });
  });

  it("starts with small batches on a processor and large ones on an accelerator", async () => {
    const batch = async () => {
      const start = (await fake.journal()).findLast((event) => event.event === "start");
      return start?.args?.[start.args.indexOf("--batch-size") + 1];
    };
    await load();
    expect(await batch()).toBe("128");
    await fake.script({ devices: ["CUDA0"] });
    await load();
    expect(await batch()).toBe("2048");
  });

  it("is ready for an engine that words its log otherwise", async () => {
    await fake.script({ silent: true });
    const { one } = await load();
    expect(one.facts.contextTokens).toBe(2048);
  });

  it("works on loopback with a key where sockets are not available", async () => {
    const { one } = await load({ addressKind: "loopback" });
    const [tokens] = await one.tokenize(["a b"], new AbortController().signal);
    expect(tokens).toHaveLength(2);
    const start = (await fake.journal()).find((event) => event.event === "start");
    expect(start?.args).toContain("127.0.0.1");
  });

  it("ends the process when it is called off, and only then says so", async () => {
    await fake.script({ load: { hang: true } });
    const control = new AbortController();
    const loading = load({}, control.signal);
    const { pid } = await fake.happened((event) => event.event === "start");
    const reason = new Error("not wanted any more");
    control.abort(reason);
    await expect(loading).rejects.toBe(reason);
    expect(isGone(pid)).toBe(true);
    expect(await readdir(runtimeDir)).toEqual([]);
  });

  it("does not start anything when it was called off before", async () => {
    await expect(load({}, AbortSignal.abort(new Error("no")))).rejects.toThrow("no");
    expect(await fake.journal()).toEqual([]);
  });

  it.each([1, 2, 3])(
    "is called off right after it looked at the signal %i times",
    async (looks) => {
      await fake.script({ load: { hang: true } });
      const reason = new Error("not wanted any more");
      const control = new AbortController();
      const { signal } = control;
      let looked = 0;
      signal.throwIfAborted = () => {
        AbortSignal.prototype.throwIfAborted.call(signal);
        if (++looked === looks) setImmediate(() => control.abort(reason));
      };
      const loading = load({ loadTimeoutMs: 300_000 }, signal);
      loading.catch(() => control.abort(reason));
      await expect(loading).rejects.toBe(reason);
      expect(await readdir(runtimeDir)).toEqual([]);
    },
  );

  it("ends an engine that does not become ready in time", async () => {
    await fake.script({ load: { hang: true } });
    const error = await failure({ loadTimeoutMs: 1500 });
    expect(error.exit.kind).toBe("timed_out");
    expect(error.message).toMatch(/not ready within/);
    const { pid } = await fake.happened((event) => event.event === "start");
    expect(isGone(pid)).toBe(true);
    expect(await readdir(runtimeDir)).toEqual([]);
  });

  it.each([
    ["bad_file", { code: 1, lines: ["E gguf_init_from_reader: invalid magic characters"] }],
    ["out_of_memory", { code: 1, lines: ["E failed to allocate buffer of size 9"] }],
    [
      "missing_library",
      { code: 127, lines: ["x: error while loading shared libraries: libx.so.1: cannot open"] },
    ],
    ["signal", { signal: "SIGILL" }],
  ])("tells a death while loading: %s", async (kind, die) => {
    await fake.script({ load: { die } });
    const error = await failure();
    expect(error.exit.kind).toBe(kind);
    expect(await readdir(runtimeDir)).toEqual([]);
  });

  it("tells a missing program", async () => {
    const error = await failure({ binary: async () => ({ path: "/nowhere/x", version: "0" }) });
    expect(error.message).toMatch(/program is missing/);
    expect(await readdir(runtimeDir)).toEqual([]);
  });

  it("hands on why there is no program", async () => {
    const reason = new Error("no engine for this system");
    const binary = () => Promise.reject(reason);
    await expect(load({ binary })).rejects.toBe(reason);
  });

  it("leaves nothing behind when the engine ends later", async () => {
    const { one } = await load();
    const { pid } = await fake.happened((event) => event.event === "ready");
    process.kill(pid, "SIGKILL");
    expect(await one.exited).toMatchObject({ kind: "signal", signal: "SIGKILL" });
    expect(await readdir(runtimeDir)).toEqual([]);
    await one.close("drain");
  });
});
