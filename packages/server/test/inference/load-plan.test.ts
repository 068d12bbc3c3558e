import type { LoadPlan, TierMoved } from "@somnus/contract";
import { afterEach, expect, it } from "vitest";
import { holdsOne } from "../machine-for-one.js";
import { startTestServer, type TestServer } from "../test-server.js";

const HOLDS_ONE = holdsOne("low");

let server: TestServer;
afterEach(() => server.dispose());

const ask = (fields: Record<string, unknown>) =>
  server.post("/v1/memory/tier", { model: "tiny", target_tier: "tier1_gpu_vram", ...fields });
const planned = async (fields: Record<string, unknown> = {}): Promise<LoadPlan> => {
  const response = await ask({ estimate_only: true, ...fields });
  expect(response.status).toBe(200);
  return ((await response.json()) as TierMoved).plan!;
};
const states = async () => {
  const status = await server.memory();
  return status.models.map(({ id, state }) => [id, state]);
};

it("tells what would be where, and who would go, and does nothing", async () => {
  server = await startTestServer({ toml: HOLDS_ONE });
  const alone = await planned();
  expect(alone).toMatchObject({ fits: true, victims: [] });
  expect(alone.placement).toMatchObject({ kind: "cpu", gpu_layers: 0, context_len: 4_000_000 });
  const { weights_bytes, kv_bytes, workspace_bytes, process_bytes } = alone.estimate;
  const sum = weights_bytes + kv_bytes + workspace_bytes + process_bytes;
  expect(Math.abs(alone.placement!.host_bytes / sum - 1)).toBeLessThan(0.01);
  await (await ask({ model: "other" })).text();
  const beside = await planned();
  expect(beside.victims).toMatchObject([{ model: "other", reason: "memory_budget" }]);
  expect(beside.reason).toContain("other");
  expect(await states()).toEqual([
    ["tiny", "unloaded"],
    ["other", "ready"],
  ]);
});

it("what the plan says is what the load books", async () => {
  server = await startTestServer({ toml: HOLDS_ONE });
  const { placement } = await planned({ context_len: 4_096 });
  await (await ask({ context_len: 4_096 })).text();
  const status = await server.memory();
  expect(status.models[0]!.booked_bytes).toBe(placement!.host_bytes);
  expect(placement!.context_len).toBe(4_096);
});

it("tells the numbers where it does not fit", async () => {
  server = await startTestServer({
    toml: HOLDS_ONE,
    flags: { "hardware.max_process_memory_bytes": 300 * 1024 ** 2 },
  });
  const plan = await planned({ context_len: 4_000_000 });
  expect(plan).toMatchObject({ fits: false, placement: null, victims: [] });
  expect(plan.reason).toMatch(/tiny needs .* of process memory cap, but .* is free/);
});

it("is refused for another tier and for a context that the model does not have", async () => {
  server = await startTestServer();
  for (const fields of [{ target_tier: "tier3_nvme_ssd" }, { context_len: 2 ** 30 }]) {
    const response = await ask({ estimate_only: true, ...fields });
    expect(response.status).toBe(400);
    await response.text();
  }
});
