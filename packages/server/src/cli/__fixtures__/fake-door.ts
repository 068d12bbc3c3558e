import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type {
  ChatRequest,
  MemoryModel,
  MemoryStatus,
  Model,
  Ready,
  Telemetry,
  TierMove,
  TierMoved,
} from "@somnus/client";
import { onTestFinished } from "vitest";

/** What a chat on the fake door does. */
export interface ChatScript {
  pieces?: string[];
  /** Sent instead of the end of a stream. */
  failure?: string;
  /** Never ends the stream. */
  hangs?: boolean;
  finish?: "stop" | "length";
  /** An HTTP error instead of an answer. */
  status?: number;
}

/** A small server that speaks the inference door's contract. */
export interface FakeDoor {
  url: string;
  asked: { path: string; key: string | undefined; body: ChatRequest | null }[];
  /** The chat requests among them. */
  chats(): ChatRequest[];
  models: Model[];
  memory: MemoryStatus;
  /** Called with each move of a model; a text is the message of a 429. */
  move: (move: TierMove) => TierMoved | string;
  /** Answers to `/ready`, the last one for good. */
  ready: Ready[];
  chat: ChatScript;
  /** Resolves when the client of a chat has left before its end. */
  left: Promise<void>;
}

export function modelRow(id: string, more: Partial<Model> = {}): Model {
  return {
    id,
    object: "model",
    created: 1,
    owned_by: "hypnos",
    modality: "text_generation",
    current_tier: "tier3_nvme_ssd",
    placement: {
      primary_tier: "tier3_nvme_ssd",
      gpu_layers: 0,
      pinned_ram_layers: 24,
      ssd_layers: 0,
      vram_weight_bytes: 0,
      vram_kv_and_workspace_bytes: 0,
      pinned_ram_bytes: 0,
      allocated_context_len: 32_768,
      cpu_expert_layers: 0,
    },
    active_leases: 0,
    resident: false,
    key: id,
    backend: "ggml_llama",
    default: false,
    ...more,
  };
}

export function memoryRow(id: string, more: Partial<MemoryModel> = {}): MemoryModel {
  return {
    id,
    enabled: true,
    modality: "text_generation",
    modalities: ["text_generation"],
    engine: "ggml_llama",
    total_weight_bytes: 1e9,
    priority: "normal",
    current_tier: "tier3_nvme_ssd",
    state: "unloaded",
    placement: modelRow(id).placement,
    booked_bytes: 0,
    kept_weights: null,
    kept_problem: null,
    moe_offload: "off",
    expert_bytes: 0,
    pinned: false,
    active_leases: 0,
    queued_requests: 0,
    waits_for_memory: false,
    idle_seconds: null,
    total_requests_served: 0,
    requests_per_minute: 0,
    reload_estimate_ms: null,
    service_ms: null,
    estimated_wait_ms: null,
    wait_estimates: null,
    ...more,
  };
}

const MEMORY: MemoryStatus = {
  capabilities: {
    accelerator: "Cpu",
    topology: "UnifiedMemory",
    device_name: "A processor",
    total_vram_bytes: 16e9,
    usable_vram_budget_bytes: 14e9,
    pinned_ram_budget_bytes: 8e9,
    physical_memory_bytes: 16e9,
    simulated: false,
    installed_memory_bytes: 16e9,
    tier2_to_tier1_bandwidth_gbps: null,
    tier3_to_tier2_bandwidth_gbps: null,
  },
  tier1_vram_used_bytes: 2e9,
  tier1_vram_free_bytes: 12e9,
  tier1_vram_real_free_bytes: null,
  tier1_vram_real_total_bytes: null,
  tier1_vram_unaccounted_bytes: 0,
  tier1_vram_effective_free_bytes: 11e9,
  tier2_pinned_ram_used_bytes: 0,
  tier2_pinned_ram_free_bytes: 8e9,
  tier2_resident_bytes: 0,
  tier2_locked_bytes: 0,
  physical_pool_free_bytes: 11e9,
  process_footprint_bytes: null,
  process_memory_bytes: null,
  process_memory_cap_bytes: null,
  kv_park: { enabled: false, max_bytes: 1, used_bytes: 0, models: [], not_parked: [] },
  models: [],
  recent_evictions: [],
  latency: { routes: {}, workflows: {} },
};

const TELEMETRY: Telemetry = {
  previous_tier: "tier3_nvme_ssd",
  placement: modelRow("m").placement,
  tier_switch_latency_ms: 480,
  inference_latency_ms: 900,
  evicted_models: [],
  engine: { ttft_ms: 120, decode_tokens_per_s: 44.94 },
};
const USAGE = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };

/** Opens a fake door for one test. */
export async function openFakeDoor(): Promise<FakeDoor> {
  let leave = () => {};
  const door: FakeDoor = {
    url: "",
    asked: [],
    chats: () => door.asked.flatMap(({ body }) => (body === null ? [] : [body])),
    models: [modelRow("tiny:1b")],
    memory: { ...MEMORY },
    move: ({ model }) => ({ model, placement: modelRow(model).placement }),
    ready: [{ ready: true }],
    chat: { pieces: ["Hello", " there."] },
    left: new Promise((resolve) => {
      leave = resolve;
    }),
  };
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const path = decodeURIComponent(request.url ?? "");
    door.asked.push({ path, key: request.headers.authorization, body });
    if (path === "/ready") {
      const state = door.ready.length > 1 ? door.ready.shift()! : door.ready[0]!;
      send(response, state.ready ? 200 : 503, state);
    } else if (path === "/v1/models") send(response, 200, { object: "list", data: door.models });
    else if (path === "/v1/memory/status") send(response, 200, door.memory);
    else if (path === "/v1/memory/pin") send(response, 200, { ...body, resident: true });
    else if (path === "/v1/memory/tier") {
      const moved = door.move(body as unknown as TierMove);
      if (typeof moved !== "string") send(response, 200, moved);
      else send(response, 429, { error: { message: moved, type: "model_busy" } });
    } else if (path.startsWith("/v1/models/")) {
      const id = path.slice("/v1/models/".length);
      const model = door.models.find((one) => one.id === id);
      if (model) send(response, 200, model);
      else sendError(response, 404, `There is no model "${id}". Did you mean tiny:1b?`);
    } else if (path === "/v1/chat/completions") answer(response, door.chat, body!, leave);
    else sendError(response, 404, "No such path.");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  door.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return door;
}

function answer(
  response: ServerResponse,
  script: ChatScript,
  request: ChatRequest,
  leave: () => void,
): void {
  if (script.status !== undefined) {
    sendError(response, script.status, "It cannot be done.");
    return;
  }
  const { pieces = [], finish = "stop" } = script;
  const head = { id: "chatcmpl-1", created: 1, model: request.model ?? "?" };
  if (!request.stream) {
    const message = { role: "assistant", content: pieces.join("") };
    send(response, 200, {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: finish }],
      usage: USAGE,
      hypnos_telemetry: TELEMETRY,
    });
    return;
  }
  response.on("close", () => {
    if (!response.writableFinished) leave();
  });
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (delta: object, finish_reason: string | null, more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`,
    );
  chunk({ role: "assistant", content: "" }, null);
  for (const content of pieces) chunk({ content }, null);
  if (script.hangs) return;
  if (script.failure !== undefined) {
    chunk({}, "error", { error: { message: script.failure, type: "server_error" } });
  } else chunk({}, finish, { usage: USAGE, hypnos_telemetry: TELEMETRY });
  response.end("data: [DONE]\n\n");
}

async function readBody(request: IncomingMessage): Promise<ChatRequest | null> {
  let text = "";
  for await (const piece of request) text += piece;
  return text === "" ? null : (JSON.parse(text) as ChatRequest);
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function sendError(response: ServerResponse, status: number, message: string): void {
  send(response, status, { error: { message, type: "model_not_found" } });
}
