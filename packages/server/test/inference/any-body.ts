import fc from "fast-check";

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

/**
 * Whether an answer says that the model wrote something else than the JSON that was asked for, which a scripted one
 * does: a 502, or the end of a stream, and no fault of the server.
 */
export function isOtherThanJson(status: number, answer: string): boolean {
  const told = /The answer (is not whole JSON|is JSON, but not an object|does not fit its schema)/;
  return (status === 502 || status === 200) && told.test(answer);
}
