import { expect, test } from "vitest";
import { getRoute, recordedLog, testDoor } from "./__fixtures__/test-door.js";
import { ERROR_KINDS, type ErrorCode, SomnusError } from "./errors.js";
import { writeInferenceError } from "./index.js";

const PLAIN = new Set<string>(["request_timeout", "body_limit_exceeded"]);

test.each(Object.keys(ERROR_KINDS) as ErrorCode[])("%s has its status and its form", (code) => {
  const { status, headers, body } = writeInferenceError(new SomnusError(code, "What happened."));
  expect(status).toBe(ERROR_KINDS[code].status);
  if (PLAIN.has(code)) {
    expect([headers["content-type"], body]).toEqual([
      "text/plain; charset=utf-8",
      "What happened.\n",
    ]);
    return;
  }
  const { error } = JSON.parse(body);
  expect(error).toMatchObject({ message: "What happened.", type: ERROR_KINDS[code].type });
  if (status === 401 || status === 403 || status === 429)
    expect(error).toMatchObject({ param: null, code: expect.any(String) });
});

test("a parameter is named, and seconds are rounded up", () => {
  const { headers, body } = writeInferenceError(
    new SomnusError("load_cooldown", "Wait.", { param: "model", retryAfterSecs: 2.1 }),
  );
  expect(headers["retry-after"]).toBe("3");
  expect(JSON.parse(body).error).toEqual({
    message: "Wait.",
    type: "model_not_available",
    param: "model",
  });
});

test.each([
  [
    "an Error",
    () => {
      throw new Error("secret at /home/me/x.ts:3");
    },
  ],
  [
    "a string",
    () => {
      throw "secret";
    },
  ],
  [
    "null",
    () => {
      throw null;
    },
  ],
  [
    "undefined",
    () => {
      throw undefined;
    },
  ],
  ["a rejected promise", () => Promise.reject({ secret: true })],
  [
    "an answer that cannot be sent",
    async () =>
      ({
        kind: "whole",
        status: 200,
        headers: { "bad name": "secret" },
        contentType: "text/plain",
        body: "",
      }) as const,
  ],
])(
  "%s thrown by a handler is 500 without a word of it, and is logged with its cause",
  async (_, handler) => {
    const { log, lines } = recordedLog();
    const door = await testDoor({ log, routes: [getRoute("/fails", handler)] });
    const answer = await door.inject("/fails?key=private");
    expect([answer.statusCode, answer.json().error.type]).toEqual([500, "server_error"]);
    expect(answer.body).not.toContain("secret");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      request_id: answer.headers["x-request-id"],
      code: "internal",
      path: "/fails",
    });
    expect(JSON.stringify(lines)).not.toContain("private");
  },
);

test("what the client did wrong is not logged", async () => {
  const { log, lines } = recordedLog();
  const door = await testDoor({ log, staging: () => ({ reason: "starting" }) });
  await door.inject("/nope");
  await door.inject({ method: "POST", url: "/v1/echo", payload: {} });
  expect(lines).toEqual([]);
});

test.each(["load_cooldown", "deadline_unmeetable", "memory_in_use"] as const)(
  "a refusal in the course of things is not logged: %s",
  async (code) => {
    const { log, lines } = recordedLog();
    const refuse = () => Promise.reject(new SomnusError(code, "Not now."));
    const door = await testDoor({ log, routes: [getRoute("/later", refuse)] });
    expect((await door.inject("/later")).statusCode).toBe(503);
    expect(lines).toEqual([]);
  },
);
