import { ResponsesRequest } from "@somnus/contract";
import fc from "fast-check";
import type { TObject } from "typebox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";
import { expectMannerly } from "./any-body.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ script: { answer: "ok" } });
});
afterAll(() => server.dispose());

/** Every field of a body of the Responses API that the server knows, and some that it does not. */
const FIELDS = [
  ...Object.keys((ResponsesRequest as unknown as TObject).properties),
  "user",
  "metadata",
  "__proto__",
  "constructor",
  "unknown_field",
];

/** JSON texts that are hard on a reader; as texts, since `1e999` and duplicate keys have no value in JS. */
const hostile = fc.oneof(
  fc.constantFrom(
    "null",
    "true",
    "0",
    "-1",
    "-0",
    "1e999",
    "-1e999",
    "1e-400",
    "9007199254740993",
    "2147483648",
    "4294967295",
    "0.1",
    '""',
    '"\\u0000"',
    '"\\ud800"',
    '"\\udfff\\ud800"',
    "[]",
    "{}",
    "[[]]",
    "[null]",
    '{"__proto__":{"a":1}}',
    '{"constructor":{"prototype":{}}}',
    '{"a":1,"a":"2"}',
    '{"type":"json_schema","json_schema":{"schema":{"type":"object","pattern":"("}}}',
    '[{"role":"user","content":"\\ud83d"}]',
    '[{"role":"user"}]',
    '[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"3"}]',
    '[{"type":"item_reference","id":"msg_00000000000000000000000000000000o0"}]',
    '[{"type":"function","name":"f"}]',
    '{"effort":"low","summary":"auto"}',
    '"resp_00000000000000000000000000000000"',
    '{"format":{"type":"json_object"}}',
    '[{"role":"assistant"}]',
    '[{"role":"tool","content":"x","tool_call_id":"y"}]',
    '[{"role":"user","content":[]}]',
    '[{"role":"system","content":""}]',
    `"${"x".repeat(5_000)}"`,
    `${"[".repeat(3_000)}${"]".repeat(3_000)}`,
    `${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`,
  ),
  fc.json({ maxDepth: 3 }),
);
const usual: Record<string, string> = {
  model: '"tiny"',
  input: '"Hello"',
};

describe("any body of the Responses API", () => {
  it("is answered or refused by name, never with a server error", async () => {
    const body = fc.dictionary(fc.constantFrom(...FIELDS), hostile, { maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(body, async (fields) => {
        const entries = { ...usual, ...fields };
        const text = `{${Object.entries(entries)
          .map(([key, value]) => `${JSON.stringify(key)}:${value}`)
          .join(",")}}`;
        const response = await server.post("/v1/responses", text);
        await expectMannerly(response, text, {
          stream: (answer) =>
            expect(answer).toMatch(/event: response\.(completed|incomplete)\n.*\n\n$/),
        });
      }),
      { numRuns: 2_000 },
    );
    const after = await server.post("/v1/responses", { model: "tiny", input: "Hello" });
    expect(after.status).toBe(200);
  }, 120_000);
});
