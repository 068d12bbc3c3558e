import type { MemoryStatus } from "@somnus/contract";
import { afterEach, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

const GiB = 1024 ** 3;

/** A made-up machine with two models that each need about 3 GiB for their context, and one that is switched off. */
const onMachine = (hardware: string) => `
config_version = 1
[hardware.simulate]
${hardware}
[[models]]
id = "tiny"
weights_path = "tiny.gguf"
context_len = 4000000
slots = 2
[[models]]
id = "other"
weights_path = "tiny.gguf"
context_len = 4000000
slots = 1
[[models]]
id = "off"
enabled = false
weights_path = "tiny.gguf"
priority = "low"
`;
const HOLDS_ONE = onMachine(`ram_bytes = ${6 * GiB}`);

let server: TestServer;
afterEach(() => server.dispose());

const status = () => server.memory();
const rowOf = ({ models }: MemoryStatus, id: string) => models.find((model) => model.id === id)!;

describe("GET /v1/memory/status", () => {
  it("books a loaded model in the host's memory where there is no device", async () => {
    server = await startTestServer({
      toml: onMachine(`name = "Made up"\nram_bytes = ${16 * GiB}`),
    });
    const before = await status();
    expect(before).toMatchObject({
      capabilities: {
        accelerator: "Cpu",
        topology: "UnifiedMemory",
        device_name: "Made up",
        simulated: true,
        physical_memory_bytes: 16 * GiB,
        total_vram_bytes: 16 * GiB,
        tier2_to_tier1_bandwidth_gbps: null,
      },
      tier1_vram_used_bytes: 0,
      tier1_vram_real_free_bytes: null,
      tier1_vram_real_total_bytes: null,
      tier2_pinned_ram_used_bytes: 0,
      process_memory_cap_bytes: null,
      recent_evictions: [],
    });
    expect(before.tier2_pinned_ram_free_bytes).toBe(before.capabilities.pinned_ram_budget_bytes);
    expect(rowOf(before, "tiny")).toMatchObject({
      state: "unloaded",
      current_tier: "tier3_nvme_ssd",
      booked_bytes: 0,
      idle_seconds: null,
      total_requests_served: 0,
    });

    await server.chat({});
    const after = await status();
    const row = rowOf(after, "tiny");
    expect(row).toMatchObject({
      state: "ready",
      current_tier: "tier1_gpu_vram",
      priority: "normal",
      moe_offload: "off",
      expert_bytes: 0,
      pinned: false,
      active_leases: 0,
      queued_requests: 0,
      waits_for_memory: false,
      total_requests_served: 1,
      placement: { allocated_context_len: 4_000_000 },
    });
    expect(row.booked_bytes).toBeGreaterThan(3e9);
    expect(row.idle_seconds).toBeGreaterThanOrEqual(0);
    expect(row.requests_per_minute).toBeCloseTo(0.1, 1);
    const budget = after.capabilities.usable_vram_budget_bytes;
    expect(after.tier1_vram_used_bytes).toBe(row.booked_bytes);
    expect(after.tier1_vram_free_bytes).toBe(budget - row.booked_bytes);
    // The server itself lives there as well.
    expect(after.physical_pool_free_bytes).toBeLessThan(after.tier1_vram_free_bytes);
    expect(after.tier1_vram_effective_free_bytes).toBe(after.physical_pool_free_bytes);
  });

  it("lists a model that is switched off", async () => {
    server = await startTestServer({ toml: HOLDS_ONE });
    const row = rowOf(await status(), "off");
    expect(row).toMatchObject({ enabled: false, priority: "low", current_tier: "tier3_nvme_ssd" });
  });

  it("gives a device of its own memory its own figures", async () => {
    server = await startTestServer({
      toml: onMachine(`vram_bytes = ${8 * GiB}\nram_bytes = ${16 * GiB}`),
    });
    const { capabilities, ...figures } = await status();
    expect(capabilities).toMatchObject({
      accelerator: "NvidiaCuda",
      topology: "DiscretePcie",
      total_vram_bytes: 8 * GiB,
    });
    expect(figures.tier1_vram_free_bytes).toBe(capabilities.usable_vram_budget_bytes);
    // No device says what is free on a made-up machine.
    expect(figures).toMatchObject({
      tier1_vram_real_free_bytes: null,
      tier1_vram_real_total_bytes: null,
      physical_pool_free_bytes: null,
    });
  });

  it("tells of the model that went for another, which is told to its request as well", async () => {
    server = await startTestServer({ toml: HOLDS_ONE });
    const first = (await (await server.chat({})).json()) as Answer;
    expect(first.hypnos_telemetry).toMatchObject({ evicted_models: [] });
    const asked = Date.now();
    const second = (await (await server.chat({ model: "other" })).json()) as Answer;
    expect(second.hypnos_telemetry).toMatchObject({
      previous_tier: "tier3_nvme_ssd",
      evicted_models: ["tiny"],
      placement: { primary_tier: "tier1_gpu_vram", allocated_context_len: 4_000_000 },
    });
    const third = (await (await server.chat({ model: "other" })).json()) as Answer;
    expect(third.hypnos_telemetry).toMatchObject({
      previous_tier: "tier1_gpu_vram",
      evicted_models: [],
    });

    const after = await status();
    expect(after.recent_evictions).toEqual([
      {
        model: "tiny",
        for_model: "other",
        reason: "memory_budget",
        to_tier: "tier3_nvme_ssd",
        unix_ms: expect.any(Number),
      },
    ]);
    expect(after.recent_evictions[0]!.unix_ms).toBeGreaterThanOrEqual(asked);
    expect(rowOf(after, "tiny")).toMatchObject({ state: "unloaded", booked_bytes: 0 });
    expect(after.tier1_vram_used_bytes).toBe(rowOf(after, "other").booked_bytes);
    // How long its load took is known now.
    expect(rowOf(after, "tiny").reload_estimate_ms).toBeGreaterThan(0);
  });

  it("shows who waits for whose memory", async () => {
    server = await startTestServer({ toml: HOLDS_ONE });
    const running = server.chat({
      messages: [{ role: "user", content: "[[rate:10]] [[tokens:8]]" }],
    });
    await server.engine.happened((event) => event.event === "request");
    const waiting = server.chat({ model: "other", num_ctx: 4_000_000 });
    await expect
      .poll(async () => rowOf(await status(), "other"))
      .toMatchObject({ queued_requests: 1, waits_for_memory: true, state: "unloaded" });
    expect(rowOf(await status(), "tiny")).toMatchObject({ active_leases: 1, idle_seconds: 0 });
    expect((await running).status).toBe(200);
    expect((await waiting).status).toBe(200);
  });

  it("measures what the server and its engines take", async () => {
    server = await startTestServer({ toml: HOLDS_ONE });
    const { process_memory_bytes: resident, process_footprint_bytes: footprint } = await status();
    if (process.platform !== "linux") expect([resident, footprint]).toEqual([null, null]);
    else {
      expect(footprint).toBeGreaterThan(10e6);
      expect(resident).toBeGreaterThanOrEqual(footprint!);
    }
  });
});

interface Answer {
  hypnos_telemetry: Record<string, unknown>;
}
