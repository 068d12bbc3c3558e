import { expect, test } from "vitest";
import { clientOf } from "./__fixtures__/answers.js";
import { type MessageParam, SomnusClient } from "./index.js";

test.each([
  ["http://127.0.0.1:9999", "http://127.0.0.1:9999"],
  ["http://127.0.0.1:9999/", "http://127.0.0.1:9999"],
  ["http://[::1]:9999/v1/", "http://[::1]:9999"],
  ["https://example.org/somnus/v1", "https://example.org/somnus"],
])("the base URL %s leads to %s", (given, base) => {
  expect(new SomnusClient({ baseUrl: given }).baseUrl).toBe(base);
});

test.each(["localhost:9999", "file:///etc/passwd", "nonsense"])("%s is no base URL", (given) => {
  expect(() => new SomnusClient({ baseUrl: given })).toThrow(TypeError);
});

test("each call goes to its path", async () => {
  const asked: string[] = [];
  const client = clientOf((url, init) => {
    asked.push(`${init.method} ${new URL(url).pathname}`);
    return Response.json(url.endsWith("/models") ? { data: [] } : { ready: true });
  });
  await client.root();
  await client.health();
  await client.ready();
  await client.models.list();
  await client.models.show("org/model:1b");
  await client.models.setMoeOffload("a/b", "auto");
  await client.memory.status();
  await client.memory.move({ model: "m", target_tier: "tier3_nvme_ssd" });
  await client.memory.kvPark();
  await client.memory.setKvPark({ enabled: true });
  await client.memory.pin({ model: "m", pinned: true });
  await client.chat({ messages: [{ role: "user", content: "x" }] });
  await client.completions.create({ prompt: "x" });
  const messages: MessageParam[] = [{ role: "user", content: "x" }];
  await client.messages.create({ max_tokens: 1, messages });
  await client.messages.countTokens({ messages });
  await client.embed({ input: "x" });
  await client.rerank({ query: "x", documents: ["y"] });
  await client.tokenize({ content: "x" });
  await client.detokenize({ tokens: [1] });
  await client.countTokens({ messages: [{ role: "user", content: "x" }] });
  expect(asked).toEqual([
    "GET /",
    "GET /health",
    "GET /ready",
    "GET /v1/models",
    "GET /v1/models/org%2Fmodel%3A1b",
    "POST /v1/models/a%2Fb/moe-offload",
    "GET /v1/memory/status",
    "POST /v1/memory/tier",
    "GET /v1/memory/kv-park",
    "POST /v1/memory/kv-park",
    "POST /v1/memory/pin",
    "POST /v1/chat/completions",
    "POST /v1/completions",
    "POST /v1/messages",
    "POST /v1/messages/count_tokens",
    "POST /v1/embeddings",
    "POST /v1/rerank",
    "POST /v1/tokenize",
    "POST /v1/detokenize",
    "POST /v1/chat/completions/input_tokens",
  ]);
});

test("a server that is getting ready is an answer, not an error", async () => {
  const body = { ready: false, reason: "loading", phase: "loading m", percent: 12, eta_secs: 3 };
  const client = clientOf(() => Response.json(body, { status: 503 }));
  expect(await client.ready()).toEqual(body);
});

test("a 503 of somebody else is an error", async () => {
  const client = clientOf(() => Response.json({ message: "busy" }, { status: 503 }));
  await expect(client.ready()).rejects.toMatchObject({ type: "invalid_response", status: 503 });
});
