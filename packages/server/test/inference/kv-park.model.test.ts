import { dirname } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { realEngineBinary, realModel } from "../real-engine.js";
import { startRealServer } from "../test-server.js";

const TOML = `
config_version = 1
[hardware]
kv_park = true
[[models]]
id = "smollm2:135m"
slots = 2
context_len = 4096
threads = 1
`;

let server: Awaited<ReturnType<typeof startRealServer>>;
beforeEach(() => start(), 120_000);
afterEach(() => server?.dispose());

async function start(): Promise<void> {
  server = await startRealServer({
    enginePath: realEngineBinary(),
    modelsDir: dirname(await realModel("smollm2:135m")),
    toml: TOML,
  });
}

async function post(path: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  expect(response.status, JSON.stringify(answer)).toBe(200);
  return answer;
}

type Message = { role: string; content: string };
interface Turn {
  text: string;
  cached: number;
  restored: number | undefined;
}

/** Greedy and unseeded: a seed has its whole prompt computed. */
async function turn(messages: Message[]): Promise<Turn> {
  const answer = (await post("/v1/chat/completions", {
    model: "smollm2:135m",
    messages,
    max_tokens: 40,
    temperature: 0,
  })) as unknown as {
    choices: { message: { content: string } }[];
    hypnos_telemetry: {
      engine: { cached_tokens: number };
      tier_switch_phases?: { kv_restored_tokens?: number };
    };
  };
  const { engine, tier_switch_phases: phases } = answer.hypnos_telemetry;
  return {
    text: answer.choices[0]!.message.content,
    cached: engine.cached_tokens,
    restored: phases?.kv_restored_tokens,
  };
}

const swapOut = () =>
  post("/v1/memory/tier", { model: "smollm2:135m", target_tier: "tier3_nvme_ssd" });

const OPENING: Message[] = [
  { role: "system", content: "You are a patient teacher of geography." },
  {
    role: "user",
    content: `Here is my list: ${Array.from({ length: 120 }, (_, at) => `river ${(at * 7) % 97}`).join(", ")}. Which one is the longest?`,
  },
];

async function conversation(
  between: () => Promise<unknown>,
): Promise<{ first: Turn; second: Turn }> {
  const first = await turn(OPENING);
  await between();
  const next = [
    ...OPENING,
    { role: "assistant", content: first.text },
    { role: "user", content: "And which one is the shortest of them?" },
  ];
  return { first, second: await turn(next) };
}

it("an answer after a swap is the answer of the same slot without one, and its past is not computed again", async () => {
  const stayed = await conversation(async () => {});
  // From nothing: a server learns how much of a prompt to compute at once, and that moves the last digits.
  await server.dispose();
  await start();
  const swapped = await conversation(swapOut);
  expect(swapped.first).toEqual({ ...stayed.first, restored: undefined });
  expect(swapped.second.text).toBe(stayed.second.text);
  expect(swapped.second.cached).toBe(stayed.second.cached);
  expect(swapped.second.cached).toBeGreaterThan(400);
  expect(swapped.second.restored).toBeGreaterThan(400);
}, 240_000);

it("a conversation goes on when its pool grows", async () => {
  await post("/v1/memory/kv-park", { enabled: false });
  await post("/v1/memory/tier", {
    model: "smollm2:135m",
    target_tier: "tier1_gpu_vram",
    context_len: 2_048,
  });
  const first = await turn(OPENING);
  const grown = (await post("/v1/chat/completions", {
    model: "smollm2:135m",
    messages: [
      ...OPENING,
      { role: "assistant", content: first.text },
      { role: "user", content: "Go on." },
    ],
    num_ctx: 3_000,
    max_tokens: 8,
  })) as unknown as {
    hypnos_telemetry: {
      engine: { cached_tokens: number };
      placement: { allocated_context_len: number };
    };
  };
  expect(grown.hypnos_telemetry.placement.allocated_context_len).toBe(4_096);
  expect(grown.hypnos_telemetry.engine.cached_tokens).toBeGreaterThan(400);
}, 240_000);
