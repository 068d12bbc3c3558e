import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SEEN, writeSeeingModel } from "../gguf/index.js";
import { realEngineBinary } from "../real-engine.js";
import { startRealServer } from "../test-server.js";

/** Tells of functions, of calls and of results. */
const TEMPLATE = `{% if tools %}{{ tools | tojson }}{% endif %}\
{% for message in messages %}{{ message.role }}: {% if message.content %}{{ message.content }}{% endif %}\
{% if message.tool_calls %}{{ message.tool_calls | tojson }}{% endif %}
{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}`;

const TOML = `
config_version = 1
[[models]]
id = "prompted"
weights_path = "prompted.gguf"
aux_path = "eye.gguf"
tools = "prompted"
[[models]]
id = "native"
weights_path = "native.gguf"
aux_path = "eye.gguf"
`;

let folder: string;
let server: Awaited<ReturnType<typeof startRealServer>>;
let red: string;
let blue: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "somnus-tool-pictures-"));
  await writeSeeingModel(join(folder, "prompted.gguf"), join(folder, "eye.gguf"));
  await writeSeeingModel(join(folder, "native.gguf"), join(folder, "eye.gguf"), TEMPLATE);
  server = await startRealServer({ enginePath: realEngineBinary(), modelsDir: folder, toml: TOML });
  [red, blue] = (await Promise.all(["red", "blue"].map(base64))) as [string, string];
});

afterAll(async () => {
  await server?.dispose();
  await rm(folder, { recursive: true, force: true });
});

async function base64(background: string): Promise<string> {
  const picture = sharp({ create: { width: 64, height: 64, channels: 3, background } });
  return (await picture.png().toBuffer()).toString("base64");
}

async function post(path: string, body: Record<string, unknown>): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ temperature: 0, max_tokens: 8, ...body }),
  });
}

async function textOf(response: Response): Promise<string> {
  const body = await response.text();
  expect(response.status, body).toBe(200);
  return body;
}

describe.each(["prompted", "native"])("with a model whose functions are %s", (model) => {
  it("results of the Messages API show their pictures, several and in their order", async () => {
    const image = (data: string) => ({
      type: "image",
      source: { type: "base64", media_type: "image/png", data },
    });
    const use = (id: string) => ({ type: "tool_use", id, name: "look", input: {} });
    const result = (id: string, ...content: unknown[]) => ({
      type: "tool_result",
      tool_use_id: id,
      content,
    });
    const seen = async (first: string, second: string) => {
      const response = await post("/v1/messages", {
        model,
        tools: [{ name: "look", input_schema: { type: "object" } }],
        messages: [
          { role: "user", content: "Look twice." },
          { role: "assistant", content: [use("a"), use("b")] },
          {
            role: "user",
            content: [
              result("a", { type: "text", text: "one" }, image(first)),
              result("b", image(second), { type: "text", text: "two" }),
            ],
          },
        ],
      });
      const { content } = JSON.parse(await textOf(response)) as { content: { text: string }[] };
      return content[0]!.text.trim();
    };
    expect(await seen(blue, red)).toBe(SEEN.red);
    expect(await seen(red, blue)).toBe(SEEN.blue);
  });

  it("results of the Responses API do", async () => {
    const call = (id: string) => ({
      type: "function_call",
      call_id: id,
      name: "look",
      arguments: "{}",
    });
    const output = (id: string, data: string) => ({
      type: "function_call_output",
      call_id: id,
      output: [
        { type: "input_text", text: "This:" },
        { type: "input_image", image_url: `data:image/png;base64,${data}` },
      ],
    });
    const seen = async (first: string, second: string) => {
      const response = await post("/v1/responses", {
        model,
        tools: [{ type: "function", name: "look", parameters: { type: "object" } }],
        input: [
          { role: "user", content: "Look twice." },
          call("a"),
          call("b"),
          output("a", first),
          output("b", second),
        ],
      });
      const { output: items } = JSON.parse(await textOf(response)) as {
        output: { content: { text: string }[] }[];
      };
      return items[0]!.content[0]!.text.trim();
    };
    expect(await seen(blue, red)).toBe(SEEN.red);
    expect(await seen(red, blue)).toBe(SEEN.blue);
  });

  it("results of a chat do", async () => {
    const call = { id: "a", type: "function", function: { name: "look", arguments: "{}" } };
    const url = `data:image/png;base64,${blue}`;
    const response = await post("/v1/chat/completions", {
      model,
      messages: [
        { role: "user", content: "Look." },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "a", content: [{ type: "image_url", image_url: { url } }] },
      ],
    });
    const { choices } = JSON.parse(await textOf(response)) as {
      choices: { message: { content: string } }[];
    };
    expect(choices[0]!.message.content.trim()).toBe(SEEN.blue);
  });
});

describe("a bad picture in a result is refused by its own place", () => {
  it("of the Messages API", async () => {
    const source = { type: "base64", media_type: "image/png", data: "%%%" };
    const content = [
      { type: "text", text: "?" },
      { type: "image", source },
    ];
    const response = await post("/v1/messages", {
      model: "native",
      messages: [
        { role: "user", content: "Look." },
        { role: "assistant", content: [{ type: "tool_use", id: "a", name: "look", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content }] },
      ],
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      type: "error",
      error: {
        type: "invalid_request_error",
        message: expect.stringContaining("messages[2].content[0].content[1]"),
      },
    });
  });

  it("of the Responses API", async () => {
    const response = await post("/v1/responses", {
      model: "native",
      input: [
        { role: "user", content: "Look." },
        { type: "function_call", call_id: "a", name: "look", arguments: "{}" },
        {
          type: "function_call_output",
          call_id: "a",
          output: [{ type: "input_image", image_url: "data:image/svg+xml;base64,PHN2Zy8+" }],
        },
      ],
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: "input[2].output[0]" } });
  });
});
