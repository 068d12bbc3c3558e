import { MessagesRequest } from "@somnus/contract";
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

/** Every field of a message body that the server knows, and some that it does not. */
const FIELDS = [
  ...Object.keys((MessagesRequest as unknown as TObject).properties),
  "metadata",
  "container",
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
    '[{"role":"user","content":[]}]',
    '[{"role":"assistant","content":[]}]',
    '[{"role":"assistant","content":"So"}]',
    '[{"role":"system","content":""}]',
    '[{"role":"user","content":[{"type":"text","text":""}]}]',
    '[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"x","data":"%"}}]}]',
    '[{"role":"user","content":[{"type":"document","source":{"type":"text","data":"x"}}]}]',
    '[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]',
    '[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]}]',
    '[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{}}]}]',
    '[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[]}]}]',
    `[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}}]}]`,
    '[{"name":"a","input_schema":{"type":"object"}}]',
    '[{"name":"a","input_schema":{"type":"object","properties":{"x":{"type":"banana"}}}}]',
    '[{"name":"a"},{"name":"a"}]',
    '[{"type":"web_search_20250305","name":"web_search"}]',
    '{"type":"any"}',
    '{"type":"tool","name":"a"}',
    '{"type":"none"}',
    '{"type":"enabled","budget_tokens":1}',
    '{"type":"adaptive"}',
    '[{"type":"text","text":"x-anthropic-billing-header: a"}]',
    `"${"x".repeat(5_000)}"`,
    `${"[".repeat(3_000)}${"]".repeat(3_000)}`,
    `${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`,
  ),
  fc.json({ maxDepth: 3 }),
);
const usual: Record<string, string> = {
  model: '"tiny"',
  max_tokens: "8",
  messages: '[{"role":"user","content":"Hello"}]',
};

describe("any message body", () => {
  it("is answered or refused by name, never with a server error", async () => {
    const body = fc.dictionary(fc.constantFrom(...FIELDS), hostile, { maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(body, async (fields) => {
        const entries = { ...usual, ...fields };
        const text = `{${Object.entries(entries)
          .map(([key, value]) => `${JSON.stringify(key)}:${value}`)
          .join(",")}}`;
        const response = await server.post("/v1/messages", text);
        await expectMannerly(response, text, {
          refusal: ({ type, error }) => {
            expect(type).toBe("error");
            expect(error.type).toMatch(/^(invalid_request_error|not_found_error)$/);
          },
          stream: (answer) => {
            expect(answer.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(
              true,
            );
            expect(answer).not.toContain("event: error");
          },
        });
      }),
      { numRuns: 2_000 },
    );
    const after = await server.post(
      "/v1/messages",
      `{"model":"tiny","max_tokens":8,"messages":${usual.messages}}`,
    );
    expect(after.status).toBe(200);
  }, 120_000);
});
