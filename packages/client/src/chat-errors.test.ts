import { expect, test } from "vitest";
import { clientOf, collect, frames, HELLO, streamed, textChunk } from "./__fixtures__/answers.js";
import { SomnusClientError } from "./index.js";

test("an error chunk is thrown after the text before it", async () => {
  const error = { message: "The engine stopped.", type: "server_error" };
  const last = {
    ...textChunk(""),
    choices: [{ index: 0, delta: {}, finish_reason: "error" }],
    error,
  };
  const wire = frames(textChunk("Once "), last, "[DONE]");
  const client = clientOf(() => streamed([wire], { "x-request-id": "req-9" }));
  const got: unknown[] = [];
  const reading = (async () => {
    for await (const chunk of client.chatStream(HELLO)) got.push(chunk);
  })();
  const thrown = await reading.catch((e: unknown) => e);
  expect(thrown).toBeInstanceOf(SomnusClientError);
  expect(thrown).toMatchObject({ ...error, status: 200, requestId: "req-9" });
  expect(got).toHaveLength(1);
});

test.each(["whole", "streamed"] as const)("an error body becomes the error: %s", async (mode) => {
  const client = clientOf(() =>
    Response.json(
      {
        error: {
          message: "Too many requests.",
          type: "rate_limit_error",
          param: null,
          code: "requests_per_minute",
        },
      },
      { status: 429, headers: { "retry-after": "7", "x-request-id": "req-2" } },
    ),
  );
  const call = mode === "whole" ? client.chat(HELLO) : collect(client.chatStream(HELLO));
  await expect(call).rejects.toMatchObject({
    message: "Too many requests.",
    status: 429,
    type: "rate_limit_error",
    code: "requests_per_minute",
    param: null,
    requestId: "req-2",
    retryAfterSecs: 7,
  });
});

test("the field at fault is kept", async () => {
  const body = { error: { message: "No.", type: "invalid_request_error", param: "messages[0]" } };
  const client = clientOf(() => Response.json(body, { status: 400 }));
  await expect(client.chat(HELLO)).rejects.toMatchObject({ param: "messages[0]", code: null });
});

test("plain text is the message", async () => {
  const client = clientOf(
    () =>
      new Response("It took too long.\n", {
        status: 408,
        headers: { "content-type": "text/plain" },
      }),
  );
  await expect(client.chat(HELLO)).rejects.toMatchObject({
    message: "It took too long.",
    status: 408,
    type: "timeout",
  });
});

test("the page of a proxy is not shown", async () => {
  const client = clientOf(
    () => new Response("<html>nope", { status: 502, headers: { "content-type": "text/html" } }),
  );
  await expect(client.chat(HELLO)).rejects.toMatchObject({
    message: "The server answered with status 502.",
    type: "server_error",
  });
});

test("a date in Retry-After counts from now", async () => {
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  const client = clientOf(
    () => new Response("{}", { status: 503, headers: { "retry-after": inAMinute } }),
  );
  const error = (await client.chat(HELLO).catch((e: unknown) => e)) as SomnusClientError;
  expect(error.retryAfterSecs).toBeGreaterThan(55);
  expect(error.retryAfterSecs).toBeLessThanOrEqual(61);
});

test("an answer that is not JSON is an error", async () => {
  const client = clientOf(() => new Response("hello"));
  await expect(client.chat(HELLO)).rejects.toMatchObject({ type: "invalid_response" });
});
