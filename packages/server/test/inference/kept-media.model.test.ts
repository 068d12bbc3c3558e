import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PICTURE_TOKENS, SEEN, writeSeeingModel } from "../gguf/index.js";
import { realEngineBinary } from "../real-engine.js";
import { startRealServer } from "../test-server.js";

const TOML = `
config_version = 1
[hardware]
kv_park = true
[[models]]
id = "seeing"
weights_path = "seeing.gguf"
aux_path = "eye.gguf"
slots = 2
`;

let folder: string;
let server: Awaited<ReturnType<typeof startRealServer>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "somnus-kept-media-"));
  await writeSeeingModel(join(folder, "seeing.gguf"), join(folder, "eye.gguf"));
  server = await startRealServer({ enginePath: realEngineBinary(), modelsDir: folder, toml: TOML });
});

afterAll(async () => {
  await server?.dispose();
  await rm(folder, { recursive: true, force: true });
});

async function post(path: string, body: Record<string, unknown>): Promise<unknown> {
  const response = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text);
}

async function shown(background: string) {
  const picture = sharp({ create: { width: 64, height: 64, channels: 3, background } });
  const url = `data:image/png;base64,${(await picture.png().toBuffer()).toString("base64")}`;
  return { type: "image_url", image_url: { url } };
}

async function turn(messages: unknown[]) {
  const answer = (await post("/v1/chat/completions", {
    model: "seeing",
    messages,
    max_tokens: 8,
    temperature: 0,
  })) as {
    choices: { message: { content: string } }[];
    hypnos_telemetry: {
      engine: { cached_tokens?: number };
      tier_switch_phases?: { kv_restored_tokens?: number };
    };
  };
  return {
    text: answer.choices[0]!.message.content,
    cached: answer.hypnos_telemetry.engine.cached_tokens ?? 0,
    restored: answer.hypnos_telemetry.tier_switch_phases?.kv_restored_tokens ?? 0,
  };
}

/** Longer than what is not worth keeping. */
const QUESTION = { type: "text", text: `Which colour has this? ${"It is a square. ".repeat(24)}` };

it("a conversation with a picture is parked, comes back, and its picture is not looked at again", async () => {
  const opening = { role: "user", content: [QUESTION, await shown("blue")] };
  const first = await turn([opening]);
  expect(first.text.trim()).toBe(SEEN.blue);
  await post("/v1/memory/tier", { model: "seeing", target_tier: "tier3_nvme_ssd" });
  const next = await turn([
    opening,
    { role: "assistant", content: first.text },
    { role: "user", content: "Sure?" },
  ]);
  expect(next.restored).toBeGreaterThan(PICTURE_TOKENS);
  expect(next.cached).toBeGreaterThan(PICTURE_TOKENS + 300);
});

it("another picture in the same place is looked at", async () => {
  const messages = async (colour: string) => [
    { role: "user", content: [QUESTION, await shown(colour)] },
  ];
  expect((await turn(await messages("blue"))).text.trim()).toBe(SEEN.blue);
  await post("/v1/memory/tier", { model: "seeing", target_tier: "tier3_nvme_ssd" });
  const other = await turn(await messages("red"));
  expect(other.text.trim()).toBe(SEEN.red);
});
