import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeEngine, type FakeEngine } from "../../../test/fake-engine/index.js";
import type { GgufSummary } from "../../gguf/index.js";
import { createLog } from "../../observe/index.js";
import type { Loaded, ModelSpec } from "../engine.js";
import { createLlamaEngine } from "./index.js";

const NEVER = new AbortController().signal;
const gguf = { pooling: "mean", attention: { causal: false } } as GgufSummary;
const plan = { slots: 2, contextTokens: 512, gpuLayers: 0, cpuExpertLayers: 0 } as const;

let fake: FakeEngine;
let folder: string;
let loaded: Loaded[];
beforeEach(async () => {
  fake = await createFakeEngine();
  folder = await mkdtemp(join(tmpdir(), "run-"));
  loaded = [];
});
afterEach(async () => {
  await Promise.all(loaded.map((one) => one.close("now")));
  await rm(folder, { recursive: true, force: true });
  await fake.dispose();
});

async function load(makes?: "vectors" | "ranks", threads = 8): Promise<Loaded> {
  const engine = createLlamaEngine({
    binary: async () => ({ path: fake.path, version: "11434" }),
    runtimeDir: folder,
    threads,
    stallMs: 20_000,
    loadTimeoutMs: 20_000,
    log: createLog("silent"),
  });
  const model: ModelSpec = {
    id: "m",
    weightsPath: "/models/m.gguf",
    gguf,
    ...(makes === undefined ? {} : { makes }),
  };
  const one = await engine.load(model, plan, () => {}, NEVER);
  loaded.push(one);
  return one;
}

describe.skipIf(process.platform === "win32")("an engine that is run for vectors", () => {
  it("gives those of its inputs, in their order", async () => {
    const one = await load("vectors");
    const [a, b, again] = await one.embed!(
      [
        [1, 7, 2],
        [1, 8, 2],
        [1, 7, 2],
      ],
      NEVER,
    );
    expect(a).toEqual(again);
    expect(a).not.toEqual(b);
    expect(Math.hypot(...a!)).toBeCloseTo(1, 6);
    expect(one.facts.inputTokens).toBe(512);
  });

  it("is a helper: few threads, that wait without work", async () => {
    await load("vectors");
    await load();
    const [helper, text] = (await fake.journal()).filter(({ event }) => event === "start");
    const threads = (args: readonly string[] = []) => args[args.indexOf("--threads") + 1];
    expect(threads(helper!.args)).toBe("2");
    expect(helper!.env!.OMP_WAIT_POLICY).toBe("passive");
    expect(threads(text!.args)).toBe("8");
    expect(text!.env!.OMP_WAIT_POLICY).toBeNull();
  });

  it.each(["nan", "missing"] as const)("fails on an answer with something %s", async (lie) => {
    const one = await load("vectors");
    await fake.script({ vectors: { lie } });
    await expect(one.embed!([[1, 2]], NEVER)).rejects.toMatchObject({ code: "engine_failed" });
  });

  it("says so when it ran out of memory", async () => {
    const one = await load("vectors");
    await fake.script({ vectors: { oom: true } });
    await expect(one.embed!([[1, 2]], NEVER)).rejects.toMatchObject({
      code: "device_out_of_memory",
    });
  });

  it("does nothing else, and others do not do it", async () => {
    expect((await load("vectors")).rank).toBeUndefined();
    expect((await load("ranks")).embed).toBeUndefined();
    const text = await load();
    expect([text.embed, text.rank, text.facts.inputTokens]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe.skipIf(process.platform === "win32")("an engine", () => {
  it("ranks texts in their own order", async () => {
    const one = await load("ranks");
    const { scores, tokens } = await one.rank!("red fish", ["a dog", "red fish", "fish"], NEVER);
    expect(scores).toEqual([-2, 2, 2]);
    expect(tokens).toBeGreaterThan(6);
  });

  it("tells the tokens of many texts at once, and what stands around them", async () => {
    const one = await load();
    const texts = ["one two", "", "one", "-1"];
    const found = await one.tokenize(texts, NEVER);
    expect(found.map((ids) => ids.length)).toEqual([2, 0, 1, 1]);
    expect(found[0]![0]).toBe(found[2]![0]);
    expect(await one.tokenize([], NEVER)).toEqual([]);
    expect(await one.frame(NEVER)).toEqual({ before: [1], after: [2] });
    expect(await one.detokenize([5, 6], NEVER)).toBe("5 6");
  });
});
