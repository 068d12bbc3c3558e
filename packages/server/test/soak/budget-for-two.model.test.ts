import type { MemoryStatus } from "@somnus/contract";
import { beforeAll, expect, it } from "vitest";
import { readProcessMemory } from "../../src/memory/index.js";
import { randomFrom } from "../gguf/index.js";
import { startRealServer } from "../test-server.js";
import { halfAnHour, type TracedRequest } from "./half-an-hour.js";

const ROLES = { chat: "qwen2.5-coder:0.5b", title: "smollm2:135m", draft: "gemma3:270m-base" };
const MODELS = Object.values(ROLES);
/** How much faster than in life the trace is replayed. */
const COMPRESSION = 40;
/** How often memory is looked at, ms. */
const SAMPLE_MS = 100;
/** A machine that others use as well takes much longer than the trace. */
const LONGEST_MS = 600_000;
const SEED = Number(process.env.SOMNUS_SOAK_SEED ?? 1);

const toml = MODELS.map((id) => `[[models]]\nid = "${id}"\nslots = 2\ncontext_len = 2048\n`).join(
  "",
);
const start = (hardware: Record<string, number> = {}) =>
  startRealServer({
    toml: `config_version = 1\n${toml}`,
    flags: {
      "limits.max_queue_per_model": 256,
      ...Object.fromEntries(Object.entries(hardware).map(([key, v]) => [`hardware.${key}`, v])),
    },
  });

type RealServer = Awaited<ReturnType<typeof start>>;

async function statusOf(server: RealServer): Promise<MemoryStatus> {
  const response = await fetch(`${server.url}/v1/memory/status`);
  return (await response.json()) as MemoryStatus;
}

/** What is booked for each model when it is loaded, bytes. */
let booked: number[];
beforeAll(async () => {
  const server = await start();
  try {
    booked = [];
    for (const model of MODELS) {
      const response = await fetch(`${server.url}/v1/memory/tier`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model, target_tier: "tier1_gpu_vram" }),
      });
      expect(response.status, await response.text()).toBe(200);
      const { models } = await statusOf(server);
      booked.push(models.find(({ id }) => id === model)!.booked_bytes);
    }
  } finally {
    await server.dispose();
  }
});

it(
  "three models share memory for two through half an hour of mixed requests",
  async () => {
    const [smallest, ...larger] = booked.sort((a, b) => a - b) as [number, number, number];
    const own = (await readProcessMemory())!.residentBytes;
    const cap = Math.ceil(own + larger[0]! + larger[1]! + smallest / 2);
    const server = await start({ max_process_memory_bytes: cap });
    const memory = sampleMemory();
    try {
      const trace = halfAnHour(ROLES, randomFrom(SEED));
      const outcomes = await replay(server, trace);
      const peak = await memory.stop();
      const status = await statusOf(server);
      const swaps = status.recent_evictions.length;
      console.log(
        `seed ${SEED}: ${trace.length} requests, ${swaps} of the last evictions kept, ` +
          `peak ${Math.round(peak / 2 ** 20)} of ${Math.round(cap / 2 ** 20)} MiB`,
      );
      expect(outcomes.filter((outcome) => outcome !== "answered" && outcome !== "left")).toEqual(
        [],
      );
      expect(outcomes.filter((outcome) => outcome === "answered").length).toBeGreaterThan(50);
      expect(swaps).toBeGreaterThan(3);
      expect(peak).toBeLessThanOrEqual(cap);
      await expect.poll(() => server.server.activeRequests()).toBe(0);
      for (const { active_leases, queued_requests } of (await statusOf(server)).models) {
        expect({ active_leases, queued_requests }).toEqual({
          active_leases: 0,
          queued_requests: 0,
        });
      }
    } finally {
      await memory.stop();
      await server.dispose();
    }
  },
  LONGEST_MS,
);

/** Sends every request at its time; what became of each. */
async function replay(server: RealServer, trace: readonly TracedRequest[]): Promise<string[]> {
  const begin = performance.now();
  return Promise.all(
    trace.map(async (request) => {
      const due = begin + request.at / COMPRESSION;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      return send(server, request);
    }),
  );
}

async function send(server: RealServer, request: TracedRequest): Promise<string> {
  const client = new AbortController();
  try {
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: request.model,
        messages: messagesOf(request),
        max_tokens: request.maxTokens,
        stream: request.stream,
      }),
      signal: client.signal,
    });
    if (response.status !== 200) return `${response.status}: ${await response.text()}`;
    let text = "";
    let pieces = 0;
    for await (const bytes of response.body!) {
      text += new TextDecoder().decode(bytes);
      if (request.leavesAfter !== null && ++pieces > request.leavesAfter) {
        client.abort();
        return "left";
      }
    }
    const whole = request.stream ? text.endsWith("data: [DONE]\n\n") : text.endsWith("}");
    return whole && !text.includes('"finish_reason":"error"') ? "answered" : `broken: ${text}`;
  } catch (error) {
    return client.signal.aborted ? "left" : String(error);
  }
}

function messagesOf({ conversation, turn }: TracedRequest) {
  const messages = [];
  for (let k = 0; k <= turn; k++) {
    messages.push({ role: "user", content: `Question ${k} of conversation ${conversation}: why?` });
    if (k < turn) messages.push({ role: "assistant", content: "Because of that." });
  }
  return messages;
}

/** The most memory that this process and its engines held at any look, bytes; shared pages count once. */
function sampleMemory(): { stop(): Promise<number> } {
  let peak = 0;
  let over = false;
  const sampling = (async () => {
    while (!over) {
      peak = Math.max(peak, (await readProcessMemory())?.footprintBytes ?? 0);
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    }
  })();
  return {
    async stop() {
      over = true;
      await sampling;
      return peak;
    },
  };
}
