import { DetokenizeResponse, InputTokens, TokenizeResponse } from "@somnus/contract";
import Value from "typebox/value";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.dispose());

async function ask(path: string, fields: Record<string, unknown>) {
  const response = await server.post(path, { model: "tiny", ...fields });
  return { status: response.status, body: await response.json() };
}

describe("POST /v1/tokenize", () => {
  it.each(["content", "text", "input"])("tells the tokens of its %s", async (name) => {
    const { status, body } = await ask("/v1/tokenize", { [name]: "one two" });
    expect(status).toBe(200);
    expect([...Value.Errors(TokenizeResponse, body)]).toEqual([]);
    expect(body.count).toBe(2);
    expect(body.tokens).toHaveLength(2);
  });

  it("tells those around a text as well when it is asked to", async () => {
    const { body: bare } = await ask("/v1/tokenize", { content: "one two" });
    const { body } = await ask("/v1/tokenize", { content: "one two", add_special: true });
    expect(body.tokens).toEqual([1, ...bare.tokens, 2]);
  });

  it("finds none in an empty text, and needs one", async () => {
    expect((await ask("/v1/tokenize", { content: "" })).body).toMatchObject({
      tokens: [],
      count: 0,
    });
    const { status, body } = await ask("/v1/tokenize", {});
    expect([status, body.error.param]).toEqual([400, "content"]);
  });
});

describe("POST /v1/detokenize", () => {
  it("tells the text of tokens", async () => {
    const { status, body } = await ask("/v1/detokenize", { tokens: [5, 6] });
    expect(status).toBe(200);
    expect([...Value.Errors(DetokenizeResponse, body)]).toEqual([]);
    expect(body.content).toBe("5 6");
  });

  it.each([
    [{ tokens: [1, 99_999_999] }, "tokens[1]"],
    [{ tokens: [-1] }, "tokens[0]"],
    [{ tokens: "1" }, "tokens"],
  ])("refuses %j by name", async (fields, param) => {
    const { status, body } = await ask("/v1/detokenize", fields);
    expect([status, body.error.param]).toEqual([400, param]);
  });
});

describe("POST /v1/chat/completions/input_tokens", () => {
  it("counts a conversation as a chat would", async () => {
    const messages = [{ role: "user", content: "one two three" }];
    const { status, body } = await ask("/v1/chat/completions/input_tokens", { messages });
    expect(status).toBe(200);
    expect([...Value.Errors(InputTokens, body)]).toEqual([]);
    const chat = await (await server.chat({ messages })).json();
    expect(body.input_tokens).toBe(chat.usage.prompt_tokens);
  });
});
