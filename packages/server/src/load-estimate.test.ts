import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TierMoved } from "@somnus/contract";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createFakeEngine, type FakeEngine } from "../test/fake-engine/index.js";
import { startTestServer, type TestServer } from "../test/test-server.js";
import { loadConfig } from "./config/index.js";
import { type EstimateRequest, estimateLoad, type LoadEstimate } from "./load-estimate.js";
import { createLog } from "./observe/index.js";
import { compiledRoom } from "./store/__fixtures__/other-process.js";
import { latestCorrections, type Store, storeFile } from "./store/index.js";

/** What a real engine prints beside weights and KV memory. */
const LINES = [
  "sched_reserve:        CPU compute buffer size =    30.00 MiB",
  "llama_context:        CPU  output buffer size =     0.50 MiB",
];

const room = compiledRoom();

let engine: FakeEngine;
let store: Store;
let dataDir: string;
let server: TestServer;
beforeEach(async () => {
  engine = await createFakeEngine({ load: { lines: LINES } });
  dataDir = await mkdtemp(join(tmpdir(), "somnus-estimate-"));
  const { config } = await loadConfig({ env: {}, flags: { "paths.data_dir": dataDir } });
  const { openStore } = await room.face();
  store = await openStore({ file: storeFile(config), log: createLog("silent") });
});
afterEach(async () => {
  await server.dispose();
  await store.close();
  await engine.dispose();
  await rm(dataDir, { recursive: true, force: true });
});

/** The estimate with what the server has: its folder, its engine, its store. */
async function alone(
  more: Partial<EstimateRequest> = {},
  flags: Record<string, unknown> = {},
): Promise<LoadEstimate> {
  const env = { PATH: process.env.PATH, HOME: server.folder, XDG_RUNTIME_DIR: server.folder };
  const { config } = await loadConfig({
    file: join(server.folder, "somnus.toml"),
    env,
    flags: {
      "pool.models_dir": server.folder,
      "paths.data_dir": dataDir,
      "engines.llama.path": engine.path,
      ...flags,
    },
  });
  return estimateLoad({
    config,
    env,
    model: "tiny",
    cwd: server.folder,
    contextTokens: null,
    slots: null,
    log: createLog("silent"),
    signal: new AbortController().signal,
    ...more,
  });
}

async function byServer(fields: Record<string, unknown> = {}): Promise<TierMoved["plan"]> {
  const response = await server.post("/v1/memory/tier", {
    ...{ model: "tiny", target_tier: "tier1_gpu_vram", estimate_only: true },
    ...fields,
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as TierMoved).plan;
}

async function move(tier: string): Promise<void> {
  const response = await server.post("/v1/memory/tier", { model: "tiny", target_tier: tier });
  await response.text();
  expect(response.status).toBe(200);
}

it("is what a server on which nothing is loaded says, with what its loads have shown", async () => {
  server = await startTestServer({ store, engine });
  const before = await alone();
  expect(before.plan).toEqual(await byServer());
  expect(before).toMatchObject({ model: "tiny", machine: { simulated: false, devices: [] } });
  expect(before.engine).toContain("llama");
  const context = 1_024;
  expect((await alone({ contextTokens: context })).plan).toEqual(
    await byServer({ context_len: context }),
  );
  if (process.platform !== "linux") return;
  await move("tier1_gpu_vram");
  while ((await latestCorrections(store, 10)).length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await move("tier3_nvme_ssd");
  const after = await alone();
  expect(after.plan.estimate.correction).not.toBe(1);
  expect(after.plan).toEqual(await byServer());
});

it("is of a made-up machine where one is configured, as a server's", async () => {
  const flags = { "hardware.simulate.vram_bytes": 8 * 2 ** 30 };
  server = await startTestServer({ store, engine, flags });
  const { plan, machine } = await alone({}, flags);
  expect(plan).toEqual(await byServer());
  expect(plan.placement).toMatchObject({ kind: "gpu", gpu_layers: 2 });
  expect(machine).toMatchObject({
    simulated: true,
    devices: [{ total_bytes: 8 * 2 ** 30, free_bytes: 7.5 * 2 ** 30 }],
  });
});

it("takes more slots into account", async () => {
  server = await startTestServer({ store, engine });
  const [one, many] = [await alone({ slots: 1 }), await alone({ slots: 16 })];
  expect(one.plan.placement?.slots).toBe(1);
  expect(many.plan.placement?.slots).toBe(16);
  expect(many.plan.estimate.workspace_bytes).toBeGreaterThan(one.plan.estimate.workspace_bytes);
});
