import { expect, test } from "vitest";
import { clientOf, collect, frames, HELLO, streamed, textChunk } from "./__fixtures__/answers.js";

const chunks = [textChunk("Grüße "), textChunk("🌙"), textChunk("!")];
const wire = new TextEncoder().encode(
  `: keep-alive\n\n${frames(chunks[0], chunks[1])}: still here\n\n${frames(chunks[2], "[DONE]")}`,
);

test("chunks come out whole wherever the stream is split", async () => {
  for (let at = 0; at <= wire.length; at++) {
    const client = clientOf(() => streamed([wire.slice(0, at), wire.slice(at)]));
    expect(await collect(client.chatStream(HELLO))).toEqual(chunks);
  }
});

test("the request asks for a stream", async () => {
  let sent: RequestInit = {};
  const client = clientOf(
    (_url, init) => {
      sent = init;
      return streamed([frames("[DONE]")]);
    },
    { apiKey: "secret" },
  );
  expect(await collect(client.chatStream(HELLO))).toEqual([]);
  expect(JSON.parse(String(sent.body))).toEqual({ ...HELLO, stream: true });
  expect(sent.headers).toMatchObject({
    authorization: "Bearer secret",
    accept: "text/event-stream",
    "content-type": "application/json",
  });
});

test("what comes after [DONE] is not read as an answer", async () => {
  const client = clientOf(() => streamed([frames(chunks[0], "[DONE]", chunks[1])]));
  expect(await collect(client.chatStream(HELLO))).toEqual([chunks[0]]);
});

test("a stream without [DONE] is an error after the chunks that came", async () => {
  const client = clientOf(() => streamed([frames(chunks[0])], { "x-request-id": "req-1" }));
  const got: unknown[] = [];
  const reading = (async () => {
    for await (const chunk of client.chatStream(HELLO)) got.push(chunk);
  })();
  await expect(reading).rejects.toMatchObject({
    name: "SomnusClientError",
    type: "connection_lost",
    requestId: "req-1",
  });
  expect(got).toEqual([chunks[0]]);
});

test.each([["no JSON"], ["[1]"], ['{"object":"something"}'], ["null"]])(
  "an event that is no chunk is an error: %s",
  async (data) => {
    const client = clientOf(() => streamed([frames(data, "[DONE]")]));
    await expect(collect(client.chatStream(HELLO))).rejects.toMatchObject({
      type: "invalid_response",
    });
  },
);

test("an answer that is no event stream is an error", async () => {
  const client = clientOf(
    () => new Response("<html>", { headers: { "content-type": "text/html" } }),
  );
  await expect(collect(client.chatStream(HELLO))).rejects.toMatchObject({
    type: "invalid_response",
    message: expect.stringContaining("not a Somnus server"),
  });
});
