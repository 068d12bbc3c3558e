import { expect, test } from "vitest";
import { clientOf, collect, frames, streamed } from "./__fixtures__/answers.js";

const ASK = { model: "m", max_tokens: 9, messages: [{ role: "user" as const, content: "Hello" }] };
const delta = (text: string) => ({
  type: "content_block_delta",
  index: 0,
  delta: { type: "text_delta", text },
});
const PING = { type: "ping" };
const STOP = { type: "message_stop" };

test("events come as they are, pings left out, and message_stop is the last", async () => {
  let sent: unknown;
  const client = clientOf((url, init) => {
    sent = [new URL(url).pathname, JSON.parse(String(init.body))];
    return streamed([frames(PING, delta("a"), PING), frames(delta("b"), STOP, delta("c"))]);
  });
  expect(await collect(client.messages.stream(ASK))).toEqual([delta("a"), delta("b"), STOP]);
  expect(sent).toEqual(["/v1/messages", { ...ASK, stream: true }]);
});

test("an error event is thrown after what came before it", async () => {
  const error = { type: "error", error: { type: "api_error", message: "It broke." } };
  const client = clientOf(() => streamed([frames(delta("a"), error)], { "x-request-id": "req-1" }));
  const events = client.messages.stream(ASK);
  expect((await events.next()).value).toEqual(delta("a"));
  await expect(events.next()).rejects.toMatchObject({
    name: "SomnusClientError",
    message: "It broke.",
    type: "api_error",
    requestId: "req-1",
  });
});

test("a stream without message_stop is an error, and so is what has no type", async () => {
  const cut = clientOf(() => streamed([frames(delta("a"))]));
  await expect(collect(cut.messages.stream(ASK))).rejects.toMatchObject({
    type: "connection_lost",
  });
  const strange = clientOf(() => streamed([frames({ choices: [] })]));
  await expect(collect(strange.messages.stream(ASK))).rejects.toMatchObject({
    type: "invalid_response",
  });
});

test("a refusal is read from the Messages API's own form", async () => {
  const body = { type: "error", error: { type: "overloaded_error", message: "Later." } };
  const client = clientOf(() =>
    Response.json(body, { status: 503, headers: { "retry-after": "5" } }),
  );
  await expect(client.messages.create(ASK)).rejects.toMatchObject({
    status: 503,
    type: "overloaded_error",
    message: "Later.",
    retryAfterSecs: 5,
  });
});
