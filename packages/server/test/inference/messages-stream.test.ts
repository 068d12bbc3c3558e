import { MessagesEvent } from "@somnus/contract";
import Value from "typebox/value";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.dispose());

/** The events of a streamed message, each checked against the contract and its name. */
async function eventsOf(fields: Record<string, unknown>): Promise<MessagesEvent[]> {
  const response = await server.post("/v1/messages?beta=true", {
    model: "tiny",
    max_tokens: 64,
    stream: true,
    messages: [{ role: "user", content: "Hello" }],
    ...fields,
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const text = await response.text();
  return text
    .trimEnd()
    .split("\n\n")
    .map((event) => {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event)!;
      const value: unknown = JSON.parse(data!);
      expect([...Value.Errors(MessagesEvent, value)]).toEqual([]);
      expect((value as MessagesEvent).type).toBe(name);
      return value as MessagesEvent;
    });
}

const say = (text: string) => ({ messages: [{ role: "user", content: `[[say:${text}]]` }] });

describe("a streamed message", () => {
  it("is the message, its one block, how it ended, and the end", async () => {
    const events = await eventsOf(say("one two"));
    expect(events.map(({ type }) => type)).toEqual([
      "message_start",
      "content_block_start",
      ...events.slice(2, -3).map(() => "content_block_delta"),
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(events[0]).toMatchObject({
      message: { model: "tiny", role: "assistant", content: [], stop_reason: null },
    });
    const text = events.map((event) =>
      event.type === "content_block_delta" && event.delta.type === "text_delta"
        ? event.delta.text
        : "",
    );
    expect(text.join("")).toBe("one two");
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { cache_creation_input_tokens: 0 },
      hypnos_telemetry: { placement: expect.anything() },
    });
  });

  it("tells the prompt's tokens at the start and all of them at the end", async () => {
    await eventsOf(say("warm"));
    const events = await eventsOf(say("warm"));
    const [start, end] = [events[0]!, events.at(-2)!];
    if (start.type !== "message_start" || end.type !== "message_delta") throw new Error("order");
    const { input_tokens, cache_read_input_tokens } = start.message.usage;
    expect(cache_read_input_tokens).toBeGreaterThan(0);
    expect(end.usage).toMatchObject({ input_tokens, cache_read_input_tokens });
    expect(end.usage.output_tokens).toBeGreaterThan(0);
    expect(end.hypnos_telemetry.engine.cached_tokens).toBe(cache_read_input_tokens);
  });

  it("fails before its first event with a status, after it with an event", async () => {
    const refused = await server.post("/v1/messages", {
      model: "tiny",
      max_tokens: 5,
      stream: true,
      messages: [{ role: "user", content: "[[lie:http-500]]" }],
    });
    expect(refused.status).toBe(500);
    expect(await refused.json()).toMatchObject({ type: "error", error: { type: "api_error" } });

    const events = await eventsOf({
      messages: [{ role: "user", content: "[[lie:error-event]] [[tokens:9]]" }],
    });
    expect(events.at(-1)).toEqual({
      type: "error",
      error: { type: "api_error", message: expect.any(String) },
      request_id: expect.stringMatching(/^req-/),
    });
    expect(events.map(({ type }) => type)).not.toContain("message_stop");
  });
});
