import { ChatRequest } from "@somnus/contract";
import fc from "fast-check";
import type { TObject } from "typebox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.js";
import { expectMannerly, expectWholeChunks } from "./any-body.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    // Also what an answer that has to be a call needs.
    script: { answer: '{"name":"f","arguments":{}}', templateCaps: { supports_tools: true } },
    template: "{% if tools %}{{ tools }}{% endif %}{{ messages }}",
  });
});
afterAll(() => server.dispose());

/** Every field of a chat body that the server knows, and some that it does not. */
const FIELDS = [
  ...Object.keys((ChatRequest as unknown as TObject).properties),
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
    '[{"role":"assistant"}]',
    '[{"role":"tool","content":"x","tool_call_id":"y"}]',
    '[{"role":"user","content":[]}]',
    '[{"role":"system","content":""}]',
    '[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"y"}]',
    '[{"role":"assistant","tool_calls":[{"id":"","function":{"name":"f","arguments":"{"}}]}]',
    '[{"role":"assistant","function_call":{"name":"f","arguments":"1"}},{"role":"function","name":"f","content":"y"}]',
    '[{"type":"function","function":{"name":"f"}}]',
    '[{"type":"function","function":{"name":"\\ud800","description":"\\ud800","parameters":{"\\ud800":"\\ud800"}}}]',
    '[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"$ref":"#/b"}}}}}]',
    `[{"type":"function","function":{"name":"f","parameters":${'{"items":'.repeat(3_000)}1${"}".repeat(3_000)}}}]`,
    '[{"name":"f"},{"name":"f"}]',
    '[{"name":"f","parameters":{"type":"object"}}]',
    '{"type":"function","function":{"name":"f"}}',
    '{"name":"f"}',
    '"auto"',
    '"required"',
    '"none"',
    '"low"',
    "true",
    "false",
    `"${"x".repeat(5_000)}"`,
    `${"[".repeat(3_000)}${"]".repeat(3_000)}`,
    `${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`,
  ),
  fc.json({ maxDepth: 3 }),
);
const usual: Record<string, string> = {
  model: '"tiny"',
  messages: '[{"role":"user","content":"Hello"}]',
};

describe("any chat body", () => {
  it("is answered or refused by name, never with a server error", async () => {
    const body = fc.dictionary(fc.constantFrom(...FIELDS), hostile, { maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(body, async (fields) => {
        const entries = { ...usual, ...fields };
        const text = `{${Object.entries(entries)
          .map(([key, value]) => `${JSON.stringify(key)}:${value}`)
          .join(",")}}`;
        const response = await server.post("/v1/chat/completions", text);
        await expectMannerly(response, text, { stream: expectWholeChunks });
      }),
      { numRuns: 2_000 },
    );
    const after = await server.chat({});
    expect(after.status).toBe(200);
  }, 120_000);
});
