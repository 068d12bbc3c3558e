import { stat } from "node:fs/promises";
import type { MemoryStatus } from "@somnus/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compiledKeeper, processesOf } from "../keeper-program.js";
import { realModel } from "../real-engine.js";
import { startRealServer } from "../test-server.js";

const program = compiledKeeper();
const model = "smollm2:135m";
let server: Awaited<ReturnType<typeof startRealServer>>;
beforeAll(async () => {
  server = await startRealServer({
    keeperProgram: program(),
    toml: `config_version = 1\n[[models]]\nid = "${model}"\ncontext_len = 2048`,
  });
});
afterAll(() => server.dispose());

async function post(path: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}
const move = (tier: string) => post("/v1/memory/tier", { model, target_tier: tier });
async function answer(): Promise<{ text: string; from: string }> {
  const body = (await post("/v1/chat/completions", {
    model,
    messages: [{ role: "user", content: "Say hello." }],
    max_tokens: 8,
    temperature: 0,
  })) as {
    choices: { message: { content: string } }[];
    hypnos_telemetry: { previous_tier: string };
  };
  return { text: body.choices[0]!.message.content, from: body.hypnos_telemetry.previous_tier };
}
async function status(): Promise<MemoryStatus> {
  return (await (await fetch(`${server.url}/v1/memory/status`)).json()) as MemoryStatus;
}

it("goes to tier 2 from disk and from its engine, and answers the same when it is back", async () => {
  const { size } = await stat(await realModel(model));
  await move("tier2_pinned_ram");
  const kept = (await status()).models[0]!.kept_weights!;
  expect(kept.state).toBe("kept");
  expect(kept.resident_bytes).toBeGreaterThan(size * 0.98);
  expect(kept.resident_bytes).toBeLessThanOrEqual(size);
  expect(kept.booked_bytes).toBe(size);

  const first = await answer();
  expect(first.from).toBe("tier2_pinned_ram");
  await move("tier2_pinned_ram");
  const booked = await status();
  // Without an engine nothing is booked in tier 1: the pages are those of tier 2 alone.
  expect(booked.models[0]).toMatchObject({ booked_bytes: 0, current_tier: "tier2_pinned_ram" });
  const [keeper] = await processesOf(program());
  process.kill(keeper!, "SIGKILL");
  await expect
    .poll(async () => (await status()).models[0]!.kept_weights?.resident_bytes)
    .toBe(kept.resident_bytes);
  expect(await answer()).toEqual(first);
  await move("tier3_nvme_ssd");
  expect((await status()).tier2_pinned_ram_used_bytes).toBe(0);
  expect(await answer()).toEqual({ ...first, from: "tier3_nvme_ssd" });
}, 120_000);
