import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.dispose());

const say = (text: string) => ({ messages: [{ role: "user", content: `[[say:${text}]]` }] });

describe("a whole message", () => {
  it("is the same in one piece", async () => {
    const response = await server.post("/v1/messages", {
      model: "tiny",
      max_tokens: 2,
      ...say("one two three four"),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      type: "message",
      role: "assistant",
      model: "tiny",
      content: [{ type: "text", text: expect.stringMatching(/^one/) }],
      stop_reason: "max_tokens",
      stop_sequence: null,
      usage: {
        input_tokens: expect.any(Number),
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: expect.any(Number),
        output_tokens: 2,
      },
      hypnos_telemetry: expect.objectContaining({ previous_tier: expect.any(String) }),
    });
  });

  it("shows thoughts where they are asked for, and only there", async () => {
    const ask = async (fields: Record<string, unknown>) => {
      const response = await server.post("/v1/messages", {
        model: "tiny",
        max_tokens: 64,
        messages: [{ role: "user", content: "[[think:hm]][[say:well]]" }],
        ...fields,
      });
      const { content } = (await response.json()) as { content: { type: string }[] };
      return content;
    };
    const thought = { type: "thinking", thinking: "hm", signature: expect.any(String) };
    const said = { type: "text", text: "well" };
    expect(await ask({ thinking: { type: "enabled", budget_tokens: 32 } })).toEqual([
      thought,
      said,
    ]);
    expect(await ask({ thinking: { type: "adaptive" } })).toEqual([thought, said]);
    expect(await ask({ thinking: { type: "adaptive", display: "omitted" } })).toEqual([said]);
    expect(await ask({ thinking: { type: "disabled" } })).toEqual([said]);
    expect(await ask({})).toEqual([said]);
  });

  it("tells the stop sequence that ended it", async () => {
    const ask = async (stop_sequences: string[]) => {
      const fields = { model: "tiny", max_tokens: 64, stop_sequences, ...say("one two three") };
      return (await server.post("/v1/messages", fields)).json();
    };
    expect(await ask(["zzz", "two"])).toMatchObject({
      content: [{ text: "one " }],
      stop_reason: "stop_sequence",
      stop_sequence: "two",
    });
    expect(await ask(["zzz"])).toMatchObject({ stop_reason: "end_turn", stop_sequence: null });
  });

  it("clamps max_tokens to the server's cap", async () => {
    const capped = await startTestServer({ flags: { "limits.max_tokens_cap": 3 } });
    try {
      const response = await capped.post("/v1/messages", {
        model: "tiny",
        max_tokens: 1_000,
        ...say("a b c d e f"),
      });
      expect(await response.json()).toMatchObject({
        stop_reason: "max_tokens",
        usage: { output_tokens: 3 },
      });
    } finally {
      await capped.dispose();
    }
  });
});
