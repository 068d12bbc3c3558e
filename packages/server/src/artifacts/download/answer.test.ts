import { describe, expect, it } from "vitest";
import { hasCertainEnd, provesContent, readAnswer } from "./answer.js";

const now = Date.parse("2026-01-01T00:00:00Z");
const read = (statusCode: number, headers: Record<string, string> = {}) =>
  readAnswer({ statusCode, headers }, {}, now);

describe("the head of an answer", () => {
  it("tells a whole file from a piece and from none", () => {
    expect(read(200, { "content-length": "7", etag: '"a"' })).toEqual({
      kind: "whole",
      size: 7,
      validator: '"a"',
    });
    expect(read(206, { "content-range": "bytes 2-5/9" })).toEqual({
      kind: "piece",
      range: [2, 6],
      size: 9,
      validator: null,
    });
    expect(read(206, { "content-range": "bytes 2-5/*" })).toMatchObject({ size: null });
    expect(read(416, { "content-range": "bytes */9" })).toEqual({ kind: "none", size: 9 });
    expect(read(416)).toEqual({ kind: "none", size: null });
  });

  it.each([
    "",
    "bytes 5-2/9",
    "bytes 2-9/9",
    "items 0-1/2",
    "bytes 0-1",
    "bytes 0-99999999999999999/*",
  ])("is no piece with the range %o", (range) => {
    expect(() => read(206, { "content-range": range })).toThrow(/without saying which/);
  });

  it("names the state of the file by a strong ETag, a date, a weak ETag, in this order", () => {
    const date = "Tue, 01 Sep 2026 10:00:00 GMT";
    expect(read(200, { etag: '"a"', "last-modified": date })).toMatchObject({ validator: '"a"' });
    expect(read(200, { etag: 'W/"a"', "last-modified": date })).toMatchObject({ validator: date });
    expect(read(200, { etag: 'W/"a"' })).toMatchObject({ validator: 'W/"a"' });
  });

  it("proves by a strong ETag alone that two answers are of the same bytes", () => {
    expect(provesContent('"a"')).toBe(true);
    for (const weak of ['W/"a"', "Tue, 01 Sep 2026 10:00:00 GMT", "", null]) {
      expect(provesContent(weak)).toBe(false);
    }
  });

  it.each([
    ["7", 7_000],
    ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
    ["soon", null],
  ])("says how long to wait: %s", (asked, wait) => {
    try {
      read(503, { "retry-after": asked });
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ kind: "faltered", retryAfterMs: wait });
    }
  });

  it("is refused when the body is encoded, and when the status is none of a file", () => {
    expect(() => read(200, { "content-encoding": "gzip" })).toThrow(/encoded \(gzip\)/);
    expect(() => read(200, { "content-encoding": "identity" })).not.toThrow();
    expect(() => read(204)).toThrow(/status 204/);
    expect(() => readAnswer({ statusCode: 401, headers: {} }, { 401: "Set HF_TOKEN." })).toThrow(
      /status 401: Set HF_TOKEN\./,
    );
  });

  it("tells whether the end of the body is certain", () => {
    expect(hasCertainEnd({ statusCode: 200, headers: { "content-length": "1" } })).toBe(true);
    expect(hasCertainEnd({ statusCode: 200, headers: { "transfer-encoding": "chunked" } })).toBe(
      true,
    );
    expect(hasCertainEnd({ statusCode: 200, headers: {} })).toBe(false);
  });
});
