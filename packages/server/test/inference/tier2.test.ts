import { utimes } from "node:fs/promises";
import { join } from "node:path";
import type { MemoryModel } from "@somnus/contract";
import { afterEach, describe, expect, it } from "vitest";
import { compiledKeeper, processesOf } from "../keeper-program.js";
import { startTestServer, type TestServer } from "../test-server.js";

const program = compiledKeeper();
let server: TestServer;
afterEach(() => server.dispose());

async function start(toml = "") {
  server = await startTestServer({
    keeperProgram: program(),
    toml: `config_version = 1\n${toml || `[[models]]\nid = "tiny"\nweights_path = "tiny.gguf"`}`,
  });
}
const move = (tier: string, fields: Record<string, unknown> = {}) =>
  server.post("/v1/memory/tier", { model: "tiny", target_tier: tier, ...fields });
const status = () => server.memory();
const row = async (): Promise<MemoryModel> => (await status()).models[0]!;
async function previousTier(): Promise<unknown> {
  const answer = (await (await server.chat({})).json()) as {
    hypnos_telemetry: { previous_tier: string };
  };
  return answer.hypnos_telemetry.previous_tier;
}

describe.runIf(process.platform === "linux")("tier 2", () => {
  it("takes a model from disk and from its engine, and shows what was measured", async () => {
    await start();
    const moved = await move("tier2_pinned_ram", { context_len: 16_384 });
    expect(moved.status).toBe(200);
    const { placement } = (await moved.json()) as { placement: Record<string, number> };
    expect(placement).toMatchObject({
      primary_tier: "tier2_pinned_ram",
      gpu_layers: 0,
      pinned_ram_layers: 2,
      ssd_layers: 0,
      allocated_context_len: 0,
    });
    const { pinned_ram_bytes: bytes = 0 } = placement;
    expect(bytes).toBeGreaterThan(0);
    const kept = await status();
    const model = kept.models[0]!;
    expect(model).toMatchObject({
      state: "unloaded",
      current_tier: "tier2_pinned_ram",
      placement,
      booked_bytes: 0,
      kept_weights: { state: "kept", booked_bytes: bytes },
      kept_problem: null,
    });
    // The file is its weights and a header.
    expect(model.kept_weights!.resident_bytes).toBeGreaterThanOrEqual(bytes);
    expect(kept.tier2_pinned_ram_used_bytes).toBe(model.kept_weights!.resident_bytes);
    expect(kept.tier2_resident_bytes).toBe(model.kept_weights!.resident_bytes);
    expect(kept.tier2_locked_bytes).toBe(model.kept_weights!.locked_bytes);
    expect(kept.tier2_pinned_ram_free_bytes).toBe(
      kept.capabilities.pinned_ram_budget_bytes - kept.tier2_pinned_ram_used_bytes,
    );
    const listed = await (await fetch(`${server.url}/v1/models/tiny`)).json();
    expect(listed).toMatchObject({
      current_tier: "tier2_pinned_ram",
      resident: false,
      placement,
    });

    expect(await previousTier()).toBe("tier2_pinned_ram");
    expect(await previousTier()).toBe("tier1_gpu_vram");
    // Its engine maps the same pages, so nothing has to hold them beside it.
    await expect.poll(async () => (await row()).kept_weights).toBeNull();
    expect((await move("tier2_pinned_ram")).status).toBe(200);
    expect(await row()).toMatchObject({ state: "unloaded", current_tier: "tier2_pinned_ram" });
    const ends = (await server.engine.journal()).filter(({ event }) => event === "terminate");
    expect(ends).toHaveLength(1);

    const gone = await move("tier3_nvme_ssd");
    expect(await gone.json()).toMatchObject({
      placement: { primary_tier: "tier3_nvme_ssd", ssd_layers: 2, pinned_ram_bytes: 0 },
    });
    expect(await status()).toMatchObject({ tier2_pinned_ram_used_bytes: 0 });
    expect(await previousTier()).toBe("tier3_nvme_ssd");
  });

  it("refuses a model in use, and what does not fit with the numbers", async () => {
    await start(`[hardware.simulate]
ram_bytes = ${1024 ** 3}
[[models]]
id = "tiny"
weights_path = "tiny.gguf"
[[models]]
id = "off"
enabled = false
weights_path = "tiny.gguf"`);
    const slow = server.chat({ messages: [{ role: "user", content: "[[rate:20]] one two" }] });
    await server.engine.happened((event) => event.event === "request");
    const busy = await move("tier2_pinned_ram");
    expect(busy.status).toBe(429);
    expect(await busy.json()).toMatchObject({ error: { type: "model_busy" } });
    expect((await slow).status).toBe(200);
    expect((await move("tier2_pinned_ram", { model: "off" })).status).toBe(404);
    expect((await move("tier2_pinned_ram", { model: "nobody" })).status).toBe(404);
  });

  it("is where a model starts that is to start there, and one that is kept warm goes", async () => {
    await start(`[[models]]
id = "tiny"
weights_path = "tiny.gguf"
initial_tier = "tier2_pinned_ram"
keep_warm_in_ram = true
idle_unload_secs = 0.1`);
    expect(await row()).toMatchObject({ state: "unloaded", current_tier: "tier2_pinned_ram" });
    expect(await server.engine.journal()).not.toContainEqual(
      expect.objectContaining({ event: "ready" }),
    );
    expect(await previousTier()).toBe("tier2_pinned_ram");
    await server.engine.happened((event) => event.event === "terminate");
    await expect.poll(async () => (await row()).current_tier).toBe("tier2_pinned_ram");
  });

  it("comes back when its process is killed, and ends with the server", async () => {
    await start();
    await move("tier2_pinned_ram");
    const [pid] = await processesOf(program());
    process.kill(pid!, "SIGKILL");
    await expect
      .poll(async () => (await processesOf(program())).filter((one) => one !== pid).length)
      .toBe(1);
    await expect
      .poll(async () => (await row()).kept_weights)
      .toMatchObject({ state: "kept", resident_bytes: expect.any(Number) });
    expect((await row()).current_tier).toBe("tier2_pinned_ram");
    expect(await previousTier()).toBe("tier2_pinned_ram");
    await server.server.close({ drainMs: 0 });
    expect(await processesOf(program())).toEqual([]);
  });

  it("loses a model whose file is written to, says so without its folder, and serves it", async () => {
    await start();
    await move("tier2_pinned_ram");
    await utimes(join(server.folder, "tiny.gguf"), 1, 1);
    await expect
      .poll(row, { timeout: 10_000 })
      .toMatchObject({ current_tier: "tier3_nvme_ssd", kept_weights: null });
    const { kept_problem: problem } = await row();
    expect(problem).toContain("tiny.gguf is no longer kept in memory");
    expect(problem).not.toContain(server.folder);
    expect(await previousTier()).toBe("tier3_nvme_ssd");
    expect((await move("tier2_pinned_ram")).status).toBe(200);
    expect((await row()).kept_problem).toBeNull();
  });
});
