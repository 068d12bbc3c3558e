import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";

/** Longer than the head of a stream is held. */
const LOAD_MS = 10_800;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ script: { load: { ms: LOAD_MS } } });
});
afterAll(() => server.dispose());

async function names(response: Response): Promise<string[]> {
  expect(response.status).toBe(200);
  return [...(await response.text()).matchAll(/^event: (.*)$/gm)].map(([, name]) => name!);
}

describe("a stream that waits for its model to load", () => {
  it("tells that it lives, in events that its clients know", async () => {
    const fields = { max_tokens: 8, stream: true };
    const messages = server.post("/v1/messages", {
      ...fields,
      model: "tiny",
      messages: [{ role: "user", content: "Hello" }],
    });
    const responses = server.post("/v1/responses", { ...fields, model: "other", input: "Hello" });
    const [ofMessages, ofResponses] = await Promise.all([
      messages.then(names),
      responses.then(names),
    ]);
    expect(ofMessages.slice(0, 3)).toEqual(["ping", "message_start", "content_block_start"]);
    expect(ofMessages.at(-1)).toBe("message_stop");
    expect(ofResponses.slice(0, 3)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
    ]);
    expect(ofResponses.at(-1)).toBe("response.completed");
  });
});
