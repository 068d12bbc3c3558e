import { expect, test } from "vitest";
import { clientOf, collect, frames, streamed } from "./__fixtures__/answers.js";

const ASK = { model: "m", input: "Hello" };
const delta = (text: string) => ({ type: "response.output_text.delta", delta: text });

test.each(["completed", "incomplete", "failed"])("response.%s is the last event", async (end) => {
  let sent: unknown;
  const last = { type: `response.${end}`, response: {} };
  const client = clientOf((url, init) => {
    sent = [new URL(url).pathname, JSON.parse(String(init.body))];
    return streamed([frames(delta("a")), frames(delta("b"), last, delta("c"))]);
  });
  expect(await collect(client.responses.stream(ASK))).toEqual([delta("a"), delta("b"), last]);
  expect(sent).toEqual(["/v1/responses", { ...ASK, stream: true }]);
});

test("an error event is thrown", async () => {
  const error = { type: "error", code: "model_busy", message: "Too many.", param: null };
  const client = clientOf(() => streamed([frames(error)]));
  await expect(collect(client.responses.stream(ASK))).rejects.toMatchObject({
    message: "Too many.",
    type: "model_busy",
  });
});

test("a stream without its end is an error, and so is what has no type", async () => {
  const cut = clientOf(() => streamed([frames(delta("a"))]));
  await expect(collect(cut.responses.stream(ASK))).rejects.toMatchObject({
    type: "connection_lost",
  });
  const strange = clientOf(() => streamed([frames({ choices: [] })]));
  await expect(collect(strange.responses.stream(ASK))).rejects.toMatchObject({
    type: "invalid_response",
  });
});

test("kept responses are asked for by their id", async () => {
  const seen: string[] = [];
  const client = clientOf((url, init) => {
    seen.push(`${init.method} ${url.slice(new URL(url).origin.length)}`);
    return Response.json({});
  });
  await client.responses.show("resp_1");
  await client.responses.delete("resp_1");
  await client.responses.inputItems("resp_1", { limit: 2, order: "asc" });
  await client.responses.cancel("resp_1");
  expect(seen).toEqual([
    "GET /v1/responses/resp_1",
    "DELETE /v1/responses/resp_1",
    "GET /v1/responses/resp_1/input_items?limit=2&order=asc",
    "POST /v1/responses/resp_1/cancel",
  ]);
});
