import { ResponsesAnswer, type ResponsesEvent } from "@somnus/contract";
import Value from "typebox/value";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ script: { answer: "One two three" } });
});
afterAll(() => server.dispose());

const ask = (fields: Record<string, unknown> = {}, init?: RequestInit) =>
  server.post("/v1/responses", { model: "tiny", input: "Hello", ...fields }, init);

async function answer(fields: Record<string, unknown> = {}): Promise<ResponsesAnswer> {
  const response = await ask(fields);
  const body: unknown = await response.json();
  expect(response.status, JSON.stringify(body)).toBe(200);
  expect([...Value.Errors(ResponsesAnswer, body)].slice(0, 2)).toEqual([]);
  return body as ResponsesAnswer;
}

async function events(response: Response): Promise<ResponsesEvent[]> {
  const blocks = (await response.text()).split("\n\n").filter((block) => block !== "");
  return blocks.map((block) => {
    const [, name, data] = /^event: (\S+)\ndata: (.+)$/.exec(block)!;
    const event = JSON.parse(data!) as ResponsesEvent;
    expect(event.type).toBe(name);
    return event;
  });
}

describe("POST /v1/responses", () => {
  it("answers whole, with telemetry", async () => {
    const body = await answer({ instructions: "Be brief." });
    expect(body).toMatchObject({
      object: "response",
      status: "completed",
      model: "tiny",
      output: [
        {
          type: "message",
          status: "completed",
          content: [{ type: "output_text", text: "One two three" }],
        },
      ],
      hypnos_telemetry: { engine: { concurrent_slots: 1 } },
    });
    expect(body.usage!.total_tokens).toBe(body.usage!.input_tokens + body.usage!.output_tokens);
  });

  it("streams the same answer, with telemetry in its last event", async () => {
    const response = await ask({ stream: true });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const all = await events(response);
    expect(all.map((event) => event.sequence_number)).toEqual(all.map((_, i) => i));
    const text = all.flatMap((event) =>
      event.type === "response.output_text.delta" ? [event.delta] : [],
    );
    expect(text.join("")).toBe("One two three");
    expect(all.at(-1)).toMatchObject({
      type: "response.completed",
      response: { status: "completed", hypnos_telemetry: expect.anything() },
    });
  });

  it("is incomplete at its limit, also streamed", async () => {
    const body = await answer({ max_output_tokens: 1 });
    expect(body).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
    const all = await events(await ask({ stream: true, max_output_tokens: 1 }));
    expect(all.at(-1)!.type).toBe("response.incomplete");
  });

  it("names kinds of tools that it leaves out", async () => {
    const response = await ask({ tools: [{ type: "web_search" }, { type: "Odd\n" }] });
    expect(response.headers.get("x-somnus-skipped-tools")).toBe("web_search, other");
    expect(((await response.json()) as ResponsesAnswer).tools).toEqual([]);
  });

  it("fails as an event once its stream has begun, and is kept as failed", async () => {
    const all = await events(
      await ask({ stream: true, input: "[[rate:50]][[die:2]] one two three four" }),
    );
    const last = all.at(-1)!;
    expect(last).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "server_error" } },
    });
    const { id } = (last as Extract<ResponsesEvent, { type: "response.failed" }>).response;
    const kept = await fetch(`${server.url}/v1/responses/${id}`);
    expect(await kept.json()).toMatchObject({ id, status: "failed" });
    const onwards = await ask({ previous_response_id: id });
    expect(onwards.status).toBe(400);
  });

  it.each([
    [{ model: "nothing" }, 404, null],
    [{ input: [{ role: "robot", content: "x" }] }, 400, "input[0].role"],
    [{ input: [{ type: "function_call", name: "f", arguments: "{}" }] }, 400, "input[0].call_id"],
    [{ input: [{ type: "web_search_call" }] }, 400, "input[0].type"],
    [{ input: 3 }, 400, "input"],
    [{ background: true }, 400, "background"],
    [{ temperature: 3 }, 400, "temperature"],
    [{ previous_response_id: `resp_${"0".repeat(32)}` }, 400, "previous_response_id"],
    [
      {
        input: [
          {
            role: "user",
            content: [{ type: "input_image", image_url: "data:image/png;base64,AA" }],
          },
        ],
      },
      400,
      "input[0].content[0]",
    ],
  ])("refuses %j with %i by name", async (fields, status, param) => {
    const response = await ask(fields);
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as { error: { param?: string } };
    if (param !== null) expect(error.param).toBe(param);
  });
});
