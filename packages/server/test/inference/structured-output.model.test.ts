import { Ajv2020 } from "ajv/dist/2020.js";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRealServer } from "../test-server.js";

let server: Awaited<ReturnType<typeof startRealServer>>;
let client: OpenAI;
beforeAll(async () => {
  server = await startRealServer({
    toml: `
config_version = 1
[[models]]
id = "smollm2:135m"
context_len = 4096
`,
  });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 });
});
afterAll(() => server.dispose());

type Schema = Record<string, unknown>;

const ask = (schema: Schema, more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) =>
  client.chat.completions.create({
    model: "smollm2:135m",
    messages: [{ role: "user", content: "Write something short as JSON." }],
    max_tokens: 300,
    temperature: 1.2,
    response_format: { type: "json_schema", json_schema: { name: "answer", schema } },
    ...more,
  });

/** An answer that ended by itself: so small a model may go on until its limit, with other dice it does not. */
async function askWhole(schema: Schema): Promise<string> {
  for (let seed = 1; seed <= 8; seed++) {
    try {
      const answer = await ask(schema, { seed });
      return answer.choices[0]!.message.content!;
    } catch (error) {
      if (!(error instanceof Error && error.message.includes("limit of tokens"))) throw error;
    }
  }
  throw new Error("every answer was cut by its limit");
}

/** An object with one required property. */
const only = (a: Schema, more: Schema = {}): Schema => ({
  type: "object",
  properties: { a },
  required: ["a"],
  additionalProperties: false,
  ...more,
});

describe("a schema that engines pass over, with the real one", () => {
  it.each<[string, Schema]>([
    ["a pattern that is not anchored", only({ type: "string", pattern: "[0-9]x", maxLength: 12 })],
    ["a pattern of what JSON escapes", only({ type: "string", pattern: '^["\\\\\\n]{3}$' })],
    ["a pattern with any letters", only({ type: "string", pattern: "^.{1,8}$" })],
    [
      "a pattern and lengths",
      only({ type: "string", pattern: "^[a-z]+$", minLength: 2, maxLength: 4 }),
    ],
    ["exclusive bounds", only({ type: "integer", minimum: 3, exclusiveMinimum: 7, maximum: 9 })],
    [
      "a reference into alternatives, and a definition after its use",
      only(
        { $ref: "#/$defs/both/anyOf/0" },
        { $defs: { both: { anyOf: [{ type: "boolean" }, { $ref: "#/$defs/late" }] }, late: {} } },
      ),
    ],
    [
      "words beside a reference",
      only(
        { $ref: "#/$defs/word", maxLength: 3 },
        { $defs: { word: { type: "string", minLength: 2 } } },
      ),
    ],
    [
      "allOf, and a required property without a description",
      {
        allOf: [only({ type: "boolean" }, { additionalProperties: { type: "null" } })],
        required: ["b"],
      },
    ],
    [
      "a tuple",
      only({ type: "array", prefixItems: [{ const: 1 }], items: { type: "null" }, minItems: 2 }),
    ],
    [
      "a tree",
      {
        $ref: "#/$defs/node",
        $defs: {
          node: only({ type: "array", items: { $ref: "#/$defs/node" }, maxItems: 1 }),
        },
      },
    ],
    ["a type of values", only({ type: ["integer", "null"], enum: ["x", 4, null] })],
  ])("%s: the answer fits", async (_, schema) => {
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    const value: unknown = JSON.parse(await askWhole(schema));
    expect(validate(value), JSON.stringify({ value, errors: validate.errors })).toBe(true);
  });

  it("a date is one", async () => {
    const whole = await askWhole(only({ type: "string", format: "date" }));
    const { a } = JSON.parse(whole) as { a: string };
    expect(new Date(`${a}T00:00:00Z`).toISOString().slice(0, 10)).toBe(a);
  });

  it("JSON that is cut by the limit is an error, which the SDK does not try again", async () => {
    const schema = only({ type: "string", minLength: 200 });
    await expect(ask(schema, { max_tokens: 8 })).rejects.toMatchObject({
      status: 502,
      code: "invalid_model_output",
    });
  });
});
