import { describe, expect, it } from "vitest";
import type { FailedAnswer, VendorFailure } from "../vendor/index.js";
import { FORMATS, type Format } from "./__fixtures__/formats.js";

const NOW = Date.parse("2026-11-30T12:00:00Z");

interface Row {
  name: string;
  answer: Partial<Omit<FailedAnswer, "body">> & { body: unknown };
  failure: Partial<VendorFailure>;
  /** Absent: all of them. */
  of?: Format["name"];
}

const ROWS: Row[] = [
  {
    name: "OpenAI's rate limit",
    answer: {
      status: 429,
      headers: { "retry-after": "20" },
      body: {
        error: { message: "Slow down", type: "requests", param: null, code: "rate_limit_exceeded" },
      },
    },
    failure: {
      kind: "rate_limited",
      status: 429,
      message: "Slow down",
      type: "requests",
      code: "rate_limit_exceeded",
      param: null,
      retryable: true,
      retryAfterMs: 20_000,
    },
  },
  {
    name: "an account without credit, told as a rate limit",
    of: "openai-chat",
    answer: { status: 429, body: { error: { message: "x", code: "insufficient_quota" } } },
    failure: { kind: "payment", retryable: false },
  },
  {
    name: "a subscription that is used up",
    of: "openai-responses",
    answer: {
      status: 429,
      body: { error: { type: "usage_limit_reached", message: "x", resets_in_seconds: 90 } },
    },
    failure: { kind: "rate_limited", retryAfterMs: 90_000 },
  },
  {
    name: "an account without credit, told as a bad request",
    of: "anthropic",
    answer: {
      status: 400,
      body: {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "Your credit balance is too low to use this.",
        },
      },
    },
    failure: { kind: "payment", status: 400, type: "invalid_request_error" },
  },
  {
    name: "an overloaded vendor",
    answer: {
      status: 529,
      headers: { "retry-after": "Mon, 30 Nov 2026 12:00:05 GMT" },
      body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    },
    failure: { kind: "server_error", type: "overloaded_error", retryAfterMs: 5_000 },
  },
  {
    name: "a list of Google's with the time to wait in it",
    answer: {
      status: 429,
      body: [
        {
          error: {
            code: 429,
            message: "Quota exceeded",
            status: "RESOURCE_EXHAUSTED",
            details: [
              { "@type": "type.googleapis.com/google.rpc.QuotaFailure" },
              { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" },
            ],
          },
        },
      ],
    },
    failure: {
      kind: "rate_limited",
      message: "Quota exceeded",
      type: "RESOURCE_EXHAUSTED",
      code: "429",
      retryAfterMs: 34_500,
    },
  },
  {
    name: "a refused request",
    answer: {
      status: 400,
      body: { error: { message: "Bad", type: "invalid_request_error", param: "messages[0]" } },
    },
    failure: { kind: "rejected", param: "messages[0]", retryable: false, retryAfterMs: null },
  },
  {
    name: "words that every object of JavaScript has a value for",
    answer: {
      status: 400,
      body: { error: { message: "x", code: "constructor", type: "toString" } },
    },
    failure: { kind: "rejected", code: "constructor", type: "toString" },
  },
  {
    name: "a wrong key",
    answer: { status: 401, body: { error: { message: "No", code: "invalid_api_key" } } },
    failure: { kind: "auth", retryable: false },
  },
  {
    name: "an unpaid account",
    answer: { status: 402, body: { error: { message: "Pay", code: 402 } } },
    failure: { kind: "payment", code: "402" },
  },
  {
    name: "an error that is a text, as Ollama has it",
    answer: { status: 404, body: { error: "model 'x' not found" } },
    failure: { kind: "model_missing", message: "model 'x' not found" },
  },
  {
    name: "a detail, as FastAPI has it",
    answer: { status: 422, body: { detail: [{ loc: ["body", "n"], msg: "too many", type: "x" }] } },
    failure: { kind: "rejected", message: "too many" },
  },
  {
    name: "a message alone",
    answer: {
      status: 500,
      body: { object: "error", message: "Oops", type: "internal", code: "1" },
    },
    failure: { kind: "server_error", message: "Oops", type: "internal", code: "1" },
  },
  {
    name: "a page",
    answer: {
      status: 502,
      body: "<!DOCTYPE html>\n<html><head><title>502 Bad\n Gateway</title></head><body>x</body></html>",
    },
    failure: { kind: "server_error", message: "502 Bad Gateway", type: null, retryable: true },
  },
  {
    name: "prose",
    answer: { status: 503, body: "upstream connect error\n\u0007or disconnect" },
    failure: { kind: "server_error", message: "upstream connect error or disconnect" },
  },
  {
    name: "nothing",
    answer: { status: 408, headers: { "retry-after-ms": "1500" }, body: "" },
    failure: {
      kind: "server_error",
      message: "It answered with status 408 and said nothing.",
      retryAfterMs: 1_500,
    },
  },
  {
    name: "a text in quotes, and a time to wait that is none",
    answer: { status: 425, headers: { "retry-after": "soon" }, body: '"later"' },
    failure: { kind: "server_error", message: '"later"', retryAfterMs: null },
  },
  {
    name: "a time to wait that has passed",
    answer: { status: 503, headers: { "retry-after": "2026-11-30T11:00:00Z" }, body: "{}" },
    failure: { kind: "server_error", retryAfterMs: 0 },
  },
];

const rows = ROWS.flatMap((row) =>
  FORMATS.filter(({ name }) => row.of === undefined || row.of === name).map((format) => ({
    ...row,
    format,
    as: format.name,
  })),
);

describe.each(rows)("$name as $as", ({ format, answer, failure }) => {
  it("is a failure in one form", () => {
    const body = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
    const whole = { status: 500, headers: {}, ...answer, body };
    expect(format.readError(whole, NOW)).toMatchObject(failure);
  });
});

it.each(FORMATS)("a long message of a vendor is cut: $name", ({ readError }) => {
  const body = JSON.stringify({ error: { message: "a".repeat(100_000) } });
  expect(readError({ status: 400, headers: {}, body }).message.length).toBeLessThan(1_100);
});
