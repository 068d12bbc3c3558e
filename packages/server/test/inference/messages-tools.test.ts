import type { MessagesEvent, MessagesResponse } from "@somnus/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

const CAPS = { templateCaps: { supports_tools: true } };
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    script: CAPS,
    template: "{% if tools %}{{ tools }}{% endif %}{{ messages }}",
  });
});
afterAll(() => server.dispose());

const tools = ["weather", "time"].map((name) => ({
  name,
  input_schema: { type: "object", properties: { city: { type: "string" } } },
}));
const PARIS = { name: "weather", arguments: '{"city":"Paris"}' };
const ROME = { name: "weather", arguments: '{"city":"Rome"}' };

const send = (fields: Record<string, unknown>) =>
  server.post("/v1/messages", {
    model: "tiny",
    max_tokens: 64,
    messages: [{ role: "user", content: "How is it in Paris and in Rome?" }],
    tools,
    ...fields,
  });

async function whole(fields: Record<string, unknown>): Promise<MessagesResponse> {
  const response = await send(fields);
  const body = await response.json();
  expect(response.status, JSON.stringify(body)).toBe(200);
  return body as MessagesResponse;
}

async function lastBody(): Promise<Record<string, unknown>> {
  const requests = (await server.engine.journal()).filter(({ event }) => event === "request");
  return requests.at(-1)!.body!;
}

describe("calls of tools", () => {
  it("are blocks after the text and the thoughts, their input an object", async () => {
    await server.engine.script({
      ...CAPS,
      reasoning: "hm",
      answer: "Let me look.\n\n",
      calls: [PARIS, ROME],
    });
    const answer = await whole({ thinking: { type: "adaptive" } });
    expect(answer.stop_reason).toBe("tool_use");
    expect(answer.content).toEqual([
      { type: "thinking", thinking: "hm", signature: expect.any(String) },
      { type: "text", text: expect.stringMatching(/^Let me look\./) },
      { type: "tool_use", id: expect.any(String), name: "weather", input: { city: "Paris" } },
      { type: "tool_use", id: expect.any(String), name: "weather", input: { city: "Rome" } },
    ]);
  });

  it("are streamed one after the other", async () => {
    await server.engine.script({ ...CAPS, answer: "Let me look.", calls: [PARIS, ROME] });
    const text = await (await send({ stream: true })).text();
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(
      ([, data]) => JSON.parse(data!) as MessagesEvent,
    );
    const outline = events.flatMap((event) => {
      if (event.type === "content_block_start") {
        return [`${event.index} ${event.content_block.type}`];
      }
      if (event.type === "content_block_delta" && event.delta.type === "input_json_delta") {
        return [event.delta.partial_json];
      }
      return event.type === "content_block_stop" ? [`${event.index} stop`] : [];
    });
    expect(outline).toEqual([
      ...["0 text", "0 stop"],
      ...["1 tool_use", PARIS.arguments, "1 stop"],
      ...["2 tool_use", ROME.arguments, "2 stop"],
    ]);
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" } });
  });

  it("and their results reach the engine in their order, with the text after them", async () => {
    await server.engine.script({ ...CAPS, answer: "Fine in both." });
    const use = (id: string, city: string) => ({
      type: "tool_use",
      id,
      name: "weather",
      input: { city },
    });
    await whole({
      messages: [
        { role: "user", content: "How is it?" },
        { role: "assistant", content: [use("a", "Paris"), use("b", "Rome")] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "b", content: "dry" },
            { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "wet" }] },
            { type: "text", text: "So?" },
          ],
        },
      ],
    });
    expect(((await lastBody()).messages as unknown[]).slice(1)).toMatchObject([
      {
        role: "assistant",
        tool_calls: [
          { id: "a", function: { name: "weather", arguments: '{"city":"Paris"}' } },
          { id: "b", function: { name: "weather", arguments: '{"city":"Rome"}' } },
        ],
      },
      { role: "tool", tool_call_id: "b", content: "dry" },
      { role: "tool", tool_call_id: "a", content: "wet" },
      { role: "user", content: "So?" },
    ]);
  });

  it("are not to be had with none", async () => {
    await server.engine.script({ ...CAPS, answer: "No.", calls: [PARIS] });
    const answer = await whole({ tool_choice: { type: "none" } });
    expect(answer.content).toEqual([{ type: "text", text: "No." }]);
    expect(await lastBody()).not.toHaveProperty("tools");
  });

  it("cut by the limit are no calls", async () => {
    await server.engine.script({ ...CAPS, answer: "Now.", calls: [PARIS] });
    const answer = await whole({ max_tokens: 3 });
    expect(answer.stop_reason).toBe("max_tokens");
    expect(answer.content).toEqual([expect.objectContaining({ type: "text" })]);
  });
});

it("a model that has no form for tools refuses them by name", async () => {
  const plain = await startTestServer();
  try {
    const fields = { model: "tiny", max_tokens: 4, messages: [{ role: "user", content: "Hi" }] };
    const response = await plain.post("/v1/messages", { ...fields, tools });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", message: expect.stringContaining("(tools)") },
    });
  } finally {
    await plain.dispose();
  }
});
