import fc from "fast-check";
import { expect } from "vitest";

/** JSON texts that are hard on a reader; as texts, since `1e999` and duplicate keys have no value in JS. */
const HARD = [
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
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udfff\\ud800"',
  '"[SEP] [CLS] <|im_end|>"',
  "[]",
  "{}",
  "[[]]",
  "[null]",
  "[0]",
  "[[1,2],[3]]",
  '[[1],"a"]',
  '["a",""]',
  '["\\ud83d"]',
  '[{"text":"a"},"b"]',
  "[99999999]",
  '{"__proto__":{"a":1}}',
  '{"a":1,"a":"2"}',
  `"${"x ".repeat(2_500)}"`,
  `${"[".repeat(3_000)}${"]".repeat(3_000)}`,
  `${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`,
];

/**
 * Bodies as JSON texts: what is usual of them, and up to four fields of any value in its place.
 * @param usual JSON text by field
 */
export function anyBody(
  fields: readonly string[],
  usual: Readonly<Record<string, string>>,
): fc.Arbitrary<string> {
  const names = [...fields, "user", "__proto__", "constructor", "unknown_field"];
  const value = fc.oneof(fc.constantFrom(...HARD), fc.json({ maxDepth: 3 }));
  return fc
    .dictionary(fc.constantFrom(...names), value, { maxKeys: 4 })
    .map((changed) => Object.entries({ ...usual, ...changed }))
    .map((entries) => entries.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(","))
    .map((members) => `{${members}}`);
}

/** What is expected of an answer beside its status. */
interface Expected {
  /** Of the body of a refusal. */
  refusal?(body: { type?: unknown; error: { message: unknown; type: unknown } }): void;
  /** Of all that was streamed. */
  stream(text: string): void;
}

/**
 * That a body was answered, or refused by name. A model that wrote something else than the JSON that was asked for,
 * as a scripted one does, is told as such: by a 502, or at the end of a stream; that is no fault of the server.
 */
export async function expectMannerly(
  response: Response,
  sent: string,
  { refusal, stream }: Expected,
): Promise<void> {
  const answer = await response.text();
  const { status, headers } = response;
  if (isOtherThanJson(status, answer)) return;
  const told = `${status} for ${sent.slice(0, 400)}: ${answer.slice(0, 300)}`;
  expect([200, 400, 404], told).toContain(status);
  if (status !== 200) {
    const body = JSON.parse(answer);
    expect(body.error.message).toEqual(expect.any(String));
    expect(body.error.type).toEqual(expect.any(String));
    refusal?.(body);
  } else if (headers.get("content-type")!.includes("event-stream")) stream(answer);
}

function isOtherThanJson(status: number, answer: string): boolean {
  const told = /The answer (is not whole JSON|is JSON, but not an object|does not fit its schema)/;
  return (status === 502 || status === 200) && told.test(answer);
}

/** Of a stream of chunks that it ended as one does. */
export function expectWholeChunks(text: string): void {
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  expect(text).not.toContain('"finish_reason":"error"');
}
