import type { TierMoved } from "@somnus/contract";
import { afterEach, describe, expect, it } from "vitest";
import { holdsOne } from "../machine-for-one.js";
import { startTestServer, type TestServer } from "../test-server.js";

/** The second model does not go for the first. */
const HOLDS_ONE = holdsOne("high");

let server: TestServer;
afterEach(() => server.dispose());

const move = (fields: Record<string, unknown>, init?: RequestInit) =>
  server.post("/v1/memory/tier", { model: "tiny", target_tier: "tier1_gpu_vram", ...fields }, init);
const events = async (name: string) =>
  (await server.engine.journal()).filter((event) => event.event === name);
const slow = { messages: [{ role: "user", content: "[[rate:20]] one two three four five six" }] };

describe("POST /v1/memory/tier", () => {
  it("loads a model and answers when it is ready, with its placement", async () => {
    server = await startTestServer({ script: { load: { ms: 100 } } });
    const response = await move({});
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      model: "tiny",
      placement: { primary_tier: "tier1_gpu_vram", allocated_context_len: expect.any(Number) },
    });
    expect(await events("ready")).toHaveLength(1);
    const answer = (await (await server.chat({})).json()) as Record<string, unknown>;
    expect(answer.hypnos_telemetry).toMatchObject({
      previous_tier: "tier1_gpu_vram",
      tier_switch_latency_ms: 0,
    });
    // Again it is there already.
    expect((await move({})).status).toBe(200);
    expect(await events("start")).toHaveLength(1);
  });

  it("allocates the context that is asked for, and loads an idle model anew for another one", async () => {
    server = await startTestServer();
    const allocated = async (fields: Record<string, unknown>) =>
      ((await (await move(fields)).json()) as TierMoved).placement.allocated_context_len;
    expect(await allocated({ context_len: 512 })).toBe(512);
    expect(await allocated({ context_len: null })).toBe(512);
    expect(await allocated({ context_len: 1024 })).toBe(1024);
    expect(await events("start")).toHaveLength(2);
    await move({ target_tier: "tier3_nvme_ssd" });
    // What was asked for once is not for good.
    expect(await allocated({})).toBe(2048);
  });

  it("refuses a context that the model does not have, with both numbers", async () => {
    server = await startTestServer();
    const response = await move({ context_len: 1_000_000 });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: Record<string, string> };
    expect(error).toMatchObject({ type: "invalid_request_error", param: "context_len" });
    expect(error.message).toMatch(/2048.*1000000/);
  });

  it("unloads an idle model and answers when its engine has gone", async () => {
    server = await startTestServer();
    await server.chat({});
    const response = await move({ target_tier: "tier3_nvme_ssd" });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      model: "tiny",
      placement: { primary_tier: "tier3_nvme_ssd", ssd_layers: 2, allocated_context_len: 0 },
    });
    expect(await events("terminate")).toHaveLength(1);
    // A model that is not loaded is there already.
    expect((await move({ target_tier: "tier3_nvme_ssd" })).status).toBe(200);
    expect((await server.chat({})).status).toBe(200);
  });

  it("refuses to unload a model in use", async () => {
    server = await startTestServer();
    const running = server.chat(slow);
    await server.engine.happened((event) => event.event === "request");
    for (const fields of [{ target_tier: "tier3_nvme_ssd" }, { context_len: 512 }]) {
      const response = await move(fields);
      expect(response.status).toBe(429);
      expect(response.headers.get("retry-after")).toBeNull();
      expect(await response.json()).toMatchObject({ error: { type: "model_busy" } });
    }
    expect((await running).status).toBe(200);
    expect(await events("terminate")).toHaveLength(0);
  });

  it("makes room by unloading, and is refused with the numbers where nothing may go", async () => {
    server = await startTestServer({ toml: HOLDS_ONE });
    expect((await move({})).status).toBe(200);
    expect((await move({ model: "other" })).status).toBe(200);
    const state = await server.memory();
    expect(state.recent_evictions).toMatchObject([{ model: "tiny", for_model: "other" }]);
    const refused = await move({ context_len: 4_000_000 });
    expect(refused.status).toBe(507);
    expect(await refused.json()).toMatchObject({ error: { type: "insufficient_vram_or_ram" } });
    // A smaller context fits beside the other model.
    expect(await (await move({ context_len: 1_000 })).json()).toMatchObject({
      placement: { allocated_context_len: 1_000 },
    });
  });

  it("waits for a model in use to leave", async () => {
    server = await startTestServer({ toml: HOLDS_ONE });
    const running = server.chat(slow);
    await server.engine.happened((event) => event.event === "request");
    const moving = move({ model: "other", context_len: 4_000_000 });
    expect((await running).status).toBe(200);
    expect((await moving).status).toBe(200);
  });

  it("tells a load that fails, and tries again at once while requests are told to wait", async () => {
    server = await startTestServer({ script: { load: { die: { code: 1 } } } });
    expect((await move({})).status).toBe(500);
    expect((await move({})).status).toBe(500);
    const resting = await server.chat({});
    expect(resting.status).toBe(503);
    expect(Number(resting.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await move({})).status).toBe(500);
  });

  it("loads also when requests do not load models", async () => {
    server = await startTestServer({ flags: { "pool.autoload": false } });
    expect((await server.chat({})).status).toBe(404);
    expect((await move({})).status).toBe(200);
    expect((await server.chat({})).status).toBe(200);
  });

  it("is no pin", async () => {
    server = await startTestServer({ flags: { "pool.idle_unload_secs": 0.2 } });
    expect((await move({})).status).toBe(200);
    await server.engine.happened((event) => event.event === "terminate");
  });

  it("does not hold on to a load that nobody waits for any more", async () => {
    server = await startTestServer({ toml: HOLDS_ONE });
    const running = server.chat(slow);
    await server.engine.happened((event) => event.event === "request");
    const leave = new AbortController();
    const moving = move({ model: "other", context_len: 4_000_000 }, { signal: leave.signal });
    const waits = async () => (await server.memory()).models[1]!.waits_for_memory;
    await expect.poll(waits).toBe(true);
    leave.abort();
    await expect(moving).rejects.toThrow();
    await expect.poll(waits).toBe(false);
    expect((await running).status).toBe(200);
    expect(await events("start")).toHaveLength(1);
  });

  it.each([
    [{ target_tier: "tier4" }, 400, "invalid_request_error", "target_tier"],
    [{ target_tier: undefined }, 400, "invalid_request_error", "target_tier"],
    [{ context_len: 0 }, 400, "invalid_request_error", "context_len"],
    [
      { target_tier: "tier3_nvme_ssd", context_len: 9 },
      400,
      "invalid_request_error",
      "context_len",
    ],
    [{ model: undefined }, 400, "invalid_request_error", "model"],
    [{ model: "nobody" }, 404, "model_not_found", "model"],
    [{ model: "off" }, 404, "model_disabled", "model"],
  ])("%j is refused", async (fields, httpStatus, type, param) => {
    server = await startTestServer({
      toml: `config_version = 1
[[models]]
id = "tiny"
weights_path = "tiny.gguf"
[[models]]
id = "off"
enabled = false
weights_path = "tiny.gguf"
`,
    });
    const response = await move(fields);
    expect(response.status).toBe(httpStatus);
    expect(await response.json()).toMatchObject({ error: { type, param } });
  });
});
