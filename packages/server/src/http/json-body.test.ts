import { expect, test } from "vitest";
import { testDoor } from "./__fixtures__/test-door.js";

const send = async (payload: string | Buffer, headers: Record<string, string> = {}) => {
  const door = await testDoor();
  return door.inject({
    method: "POST",
    url: "/v1/echo",
    payload,
    headers: { "content-type": "application/json", ...headers },
  });
};

test.each([
  ['{"text":"a"', "ends too early"],
  ['{"text":"a",}', "line 1, column 13"],
  ['{\n "text": secret }', "not valid JSON"],
  ["", "empty"],
  ["NaN", "not valid JSON"],
])("%j is not JSON", async (payload, says) => {
  const answer = await send(payload);
  expect(answer.statusCode).toBe(400);
  expect(answer.json().error.message).toContain(says);
  expect(answer.body).not.toContain("secret");
});

test.each(["null", "[]", "3", '"text"'])("%s is JSON, but no object", async (payload) => {
  const answer = await send(payload);
  expect(answer.statusCode).toBe(400);
  expect(answer.json().error.message).toMatch(/^The body must be an object, not /);
});

test("the last of equal keys wins, and special names are names like any other", async () => {
  const answer = await send(
    '{"text":"a","__proto__":{"text":1},"constructor":{"prototype":{}},"text":"b"}',
  );
  expect(answer.statusCode).toBe(200);
  expect(answer.json().text).toBe("b");
  expect(({} as Record<string, unknown>).text).toBeUndefined();
});

test("a field that only the prototype has is missing", async () => {
  const answer = await send('{"__proto__":{"text":"a"}}');
  expect(answer.json().error.param).toBe("text");
});

test("a byte order mark is passed over", async () => {
  expect((await send('\ufeff{"text":"a"}')).statusCode).toBe(200);
});

test.each([
  ["a byte of no character", [0xff]],
  ["a character cut short", [0xe2, 0x82]],
  ["a surrogate", [0xed, 0xa0, 0x80]],
])("%s is no UTF-8, and nothing is put in its place", async (_, bytes) => {
  const answer = await send(
    Buffer.from([...Buffer.from('{"text":"'), ...bytes, ...Buffer.from('"}')]),
  );
  expect(answer.statusCode).toBe(400);
  expect(answer.json().error.message).toContain("not valid UTF-8");
});

test.each([
  ["text/plain"],
  ["application/x-www-form-urlencoded"],
  ["application/jsonp"],
  ["multipart/form-data; boundary=x"],
])("%s is 415", async (type) => {
  const answer = await send('{"text":"a"}', { "content-type": type });
  expect(answer.statusCode).toBe(415);
  expect(answer.json().error).toMatchObject({
    type: "invalid_request_error",
    message: expect.stringContaining("application/json"),
  });
});

test.each([
  "application/json; charset=utf-8",
  "Application/JSON",
  "application/json;charset=UTF-8",
])("%s is JSON", async (type) => {
  expect((await send('{"text":"a"}', { "content-type": type })).statusCode).toBe(200);
});

test("a compressed body is 415, not unreadable JSON", async () => {
  const answer = await send('{"text":"a"}', { "content-encoding": "gzip" });
  expect([answer.statusCode, answer.json().error.message]).toEqual([
    415,
    expect.stringContaining("gzip"),
  ]);
});

test("deep nesting is only an unknown field", async () => {
  const depth = 100_000;
  const answer = await send(`{"text":"a","x":${"[".repeat(depth)}${"]".repeat(depth)}}`);
  expect(answer.statusCode).toBe(200);
});
