import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createFakeEngine, type FakeEngine } from "../../../test/fake-engine/index.js";
import type { GgufSummary } from "../../gguf/index.js";
import { createLog } from "../../observe/index.js";
import type { Loaded } from "../engine.js";
import { requestOf } from "./__fixtures__/request.js";
import { createLlamaEngine } from "./index.js";

const NEVER = new AbortController().signal;
let folder: string;
let fake: FakeEngine;
const running: Loaded[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "slots-"));
  fake = await createFakeEngine();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((loaded) => loaded.close("now")));
  await fake.dispose();
  await rm(folder, { recursive: true, force: true });
});

async function load(slotFolder?: string): Promise<Loaded> {
  const engine = createLlamaEngine({
    binary: async () => ({ path: fake.path, version: "11434" }),
    runtimeDir: folder,
    stallMs: 20_000,
    loadTimeoutMs: 20_000,
    log: createLog("silent"),
  });
  const plan = { slots: 2, contextTokens: 512, gpuLayers: 0, cpuExpertLayers: 0 };
  const loaded = await engine.load(
    { id: "m", weightsPath: "/m.gguf", gguf: {} as GgufSummary },
    { ...plan, ...(slotFolder === undefined ? {} : { slotFolder }) },
    () => {},
    NEVER,
  );
  running.push(loaded);
  return loaded;
}

async function cached(loaded: Loaded, slot: number): Promise<number> {
  const request = requestOf("one two three", { maxTokens: 4 });
  let found = -1;
  for await (const event of loaded.generate(request, slot, NEVER)) {
    if (event.type === "usage") found = event.usage.cachedTokens;
  }
  return found;
}

it("keeps what a slot holds in a file and gives it to a slot of another process", async () => {
  const first = await load(folder);
  await cached(first, 0);
  const saved = await first.slotFiles!.save(0, "a.slot", NEVER);
  expect(saved.tokens).toBeGreaterThan(3);
  expect(await readFile(join(folder, "a.slot"))).toHaveLength(saved.bytes);
  const second = await load(folder);
  expect(await second.slotFiles!.restore(1, "a.slot", NEVER)).toEqual({ tokens: saved.tokens });
  expect(await cached(second, 1)).toBe(saved.tokens - 1);
  await second.slotFiles!.erase(1, NEVER);
  expect(await cached(second, 1)).toBe(0);
});

it("has no slot files without a folder", async () => {
  expect((await load()).slotFiles).toBeUndefined();
});

it("tells that a slot could not be saved, and lets go of one that hangs", async () => {
  const loaded = await load(folder);
  await fake.script({ slots: { save: "fail" } });
  await expect(loaded.slotFiles!.save(0, "a.slot", NEVER)).rejects.toMatchObject({
    code: "engine_failed",
  });
  await fake.script({ slots: { save: "hang" } });
  const late = new AbortController();
  const before = (await fake.journal()).length;
  const saving = loaded.slotFiles!.save(0, "a.slot", late.signal);
  void fake.happened(({ action }) => action === "save", before).then(() => late.abort());
  await expect(saving).rejects.toMatchObject({ code: "cancelled" });
});
