import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MemoryModel, MoeOffloadSet } from "@somnus/contract";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeTinyLlama, writeTinyMoe } from "../gguf/index.js";
import { startTestServer, type TestServer } from "../test-server.js";

/** A made-up device with room for both models, as they are whole. */
const TOML = `
config_version = 1
[hardware.simulate]
name = "Made up"
vram_bytes = ${8 * 1024 ** 3}
[[models]]
id = "moe"
weights_path = "moe.gguf"
[[models]]
id = "dense"
weights_path = "tiny.gguf"
`;

let folder: string;
let server: TestServer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "somnus-moe-"));
  await writeTinyMoe(join(folder, "moe.gguf"));
  await writeTinyLlama(join(folder, "tiny.gguf"));
  server = await startTestServer({ toml: TOML, script: {}, flags: { "pool.models_dir": folder } });
});
afterEach(async () => {
  await server.dispose();
  await rm(folder, { recursive: true, force: true });
});

const set = (model: string, mode: unknown) =>
  server.post(`/v1/models/${model}/moe-offload`, { mode });
const answered = async (model: string, mode: string) => {
  const response = await set(model, mode);
  expect(response.status).toBe(200);
  return (await response.json()) as MoeOffloadSet;
};
const row = async (id: string): Promise<MemoryModel> => {
  const status = await server.memory();
  return status.models.find((model) => model.id === id)!;
};
const chat = async (content = "Hello") => {
  const response = await server.chat({ model: "moe", messages: [{ role: "user", content }] });
  expect(response.status).toBe(200);
  return (await response.json()) as { hypnos_telemetry: { placement: Record<string, number> } };
};
const starts = async () =>
  (await server.engine.journal()).filter((event) => event.event === "start");

it("a model that is not loaded is laid out so by its next request", async () => {
  expect(await row("moe")).toMatchObject({ moe_offload: "off" });
  expect((await row("moe")).expert_bytes).toBeGreaterThan(0);
  expect(await answered("moe", "on")).toMatchObject({
    model: "moe",
    moe_offload: "on",
    applies: "now",
    placement: { primary_tier: "tier3_nvme_ssd", cpu_expert_layers: 0 },
  });
  const { hypnos_telemetry: told } = await chat();
  expect(told.placement).toMatchObject({ gpu_layers: 2, cpu_expert_layers: 2 });
  expect((await starts())[0]!.args).toContain("--cpu-moe");
  expect(await row("moe")).toMatchObject({
    moe_offload: "on",
    placement: { cpu_expert_layers: 2 },
  });
});

it("an idle model goes, and comes back with its next request; what it has already changes nothing", async () => {
  await chat();
  expect((await starts())[0]!.args).not.toContain("--cpu-moe");
  expect(await answered("moe", "off")).toMatchObject({ applies: "now" });
  expect((await row("moe")).state).toBe("ready");
  const { applies, placement } = await answered("moe", "on");
  expect(applies).toBe("now");
  expect(placement.primary_tier).not.toBe("tier1_gpu_vram");
  await chat();
  expect(await starts()).toHaveLength(2);
  expect((await starts())[1]!.args).toContain("--cpu-moe");
});

it("a busy model stays as it is until its next load", async () => {
  const running = chat("[[rate:20]] one two three four five six");
  await server.engine.happened((event) => event.event === "request");
  expect(await answered("moe", "on")).toMatchObject({ applies: "next_load" });
  await running;
  expect((await row("moe")).placement.cpu_expert_layers).toBe(0);
  const gone = await server.post("/v1/memory/tier", {
    model: "moe",
    target_tier: "tier3_nvme_ssd",
  });
  expect(gone.status).toBe(200);
  expect((await chat()).hypnos_telemetry.placement.cpu_expert_layers).toBe(2);
});

it("a dense model accepts it, and nothing changes", async () => {
  await server.post("/v1/memory/tier", { model: "dense", target_tier: "tier1_gpu_vram" });
  expect(await answered("dense", "on")).toMatchObject({
    moe_offload: "on",
    applies: "now",
    placement: { primary_tier: "tier1_gpu_vram", cpu_expert_layers: 0 },
  });
  expect(await row("dense")).toMatchObject({ state: "ready", expert_bytes: 0 });
});

it.each([
  ["moe", "sideways", 422],
  ["moe", "", 422],
  ["nobody", "on", 404],
  ["moe", 7, 400],
  ["moe", undefined, 400],
])("%s with mode %j is refused with %d", async (model, mode, status) => {
  const response = await set(model, mode);
  expect(response.status).toBe(status);
  const { error } = (await response.json()) as { error: { message: string; param?: string } };
  if (status === 422) expect(error.message).toContain("off, auto, on");
});
