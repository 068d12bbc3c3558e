import type { ChatChunk } from "@somnus/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readChunks, startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ script: { answer: "One two three" } });
});
afterAll(() => server.dispose());

async function stream(fields: Record<string, unknown>): Promise<ChatChunk[]> {
  const response = await server.chat({ stream: true, ...fields });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  expect(response.headers.get("x-request-id")).toMatch(/^req-[0-9a-f]{32}$/);
  return (await readChunks(response)) as ChatChunk[];
}

describe("a streamed chat", () => {
  it("sends the role, the pieces, and a final chunk with usage and telemetry", async () => {
    const chunks = await stream({});
    expect(chunks[0]!.choices).toEqual([
      { index: 0, delta: { role: "assistant", content: "" }, finish_reason: null },
    ]);
    const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
    expect(text).toBe("One two three");
    const last = chunks.at(-1)!;
    expect(last.choices).toEqual([{ index: 0, delta: {}, finish_reason: "stop" }]);
    expect(last.usage!.total_tokens).toBe(
      last.usage!.prompt_tokens + last.usage!.completion_tokens,
    );
    expect(last.hypnos_telemetry!.placement.primary_tier).toBe("tier1_gpu_vram");
    expect(last.hypnos_telemetry!.engine.concurrent_slots).toBe(1);
    expect(chunks.slice(0, -1).every((chunk) => !("usage" in chunk))).toBe(true);
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
  });

  it("adds exactly one chunk without choices for include_usage", async () => {
    const chunks = await stream({ stream_options: { include_usage: true } });
    const last = chunks.at(-1)!;
    expect(chunks.filter((chunk) => chunk.choices.length === 0)).toEqual([last]);
    expect(last.usage).toEqual(chunks.at(-2)!.usage);
    expect(chunks.slice(0, -2).every((chunk) => chunk.usage === null)).toBe(true);
  });

  it("streams several choices by index, with the usage on the last one's final chunk", async () => {
    const chunks = await stream({ n: 2 });
    const finals = chunks.filter((chunk) => chunk.choices[0]!.finish_reason !== null);
    expect(finals.map((chunk) => chunk.choices[0]!.index)).toEqual([0, 1]);
    expect("usage" in finals[0]!).toBe(false);
    const [alone] = (await stream({})).slice(-1);
    expect(finals[1]!.usage!.completion_tokens).toBe(2 * alone!.usage!.completion_tokens);
    const roles = chunks.filter((chunk) => chunk.choices[0]!.delta.role);
    expect(roles.map((chunk) => chunk.choices[0]!.index)).toEqual([0, 1]);
  });

  it("ends as length when max_tokens is reached", async () => {
    const chunks = await stream({ max_tokens: 1 });
    expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe("length");
  });

  it("ends with an error chunk and [DONE] when the engine dies in the middle", async () => {
    const chunks = await stream({
      messages: [{ role: "user", content: "[[rate:50]][[die:2]] one two three four" }],
      stream_options: { include_usage: true },
    });
    const last = chunks.at(-1)! as ChatChunk;
    expect(last.choices[0]!.finish_reason).toBe("error");
    expect(last.error).toEqual({ message: expect.any(String), type: "server_error" });
    expect(last.usage).toBeNull();
    const next = await server.chat({});
    expect(next.status).toBe(200);
  });
});
