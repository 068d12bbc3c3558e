import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writtenBy } from "./__fixtures__/written.js";
import { outOfBounds } from "./bounds.js";
import { holdSchema } from "./hold.js";
import { type Schema, SchemaFault } from "./schema.js";

const text = { type: "string" };
const object = (properties: Schema, more: Schema = {}) => ({ type: "object", properties, ...more });

const SCHEMAS: readonly (readonly [string, Schema])[] = [
  ["nothing", {}],
  ["a text that contains a match", object({ a: { ...text, pattern: "[0-9]{2}" } })],
  [
    "a text with a pattern and lengths",
    { ...text, pattern: "^[a-z]+$", minLength: 3, maxLength: 6 },
  ],
  ["a text with lengths", { ...text, minLength: 2, maxLength: 4 }],
  [
    "a whole number with both kinds of bounds",
    { type: "integer", minimum: 2, exclusiveMinimum: 4, maximum: 9.5 },
  ],
  ["a number with bounds", { type: "number", minimum: 0, exclusiveMaximum: 1 }],
  ["a bound without a type", object({ a: { minimum: 3 } })],
  ["a required property that is not described", { type: "object", required: ["a"] }],
  ["the same beside others", object({ b: text }, { required: ["a", "b"] })],
  [
    "the same with a schema for all others",
    { type: "object", required: ["a"], additionalProperties: text },
  ],
  ["a map", { type: "object", propertyNames: text, additionalProperties: { type: "integer" } }],
  ["an optional property that may not be", object({ a: false, b: text })],
  [
    "allOf with requirements",
    { allOf: [object({ a: text }), { required: ["a"], minProperties: 1 }] },
  ],
  [
    "allOf with bounds",
    {
      allOf: [
        { type: "number", minimum: 1 },
        { type: "integer", maximum: 4 },
      ],
    },
  ],
  [
    "a reference with a word beside it",
    object(
      { a: { $ref: "#/$defs/t", maxLength: 3, description: "x" } },
      { $defs: { t: { ...text, minLength: 1 } }, required: ["a"] },
    ),
  ],
  [
    "anyOf with words beside it",
    object({ a: text, b: text }, { anyOf: [{ required: ["a"] }, { required: ["b"] }] }),
  ],
  [
    "oneOf told apart by a constant",
    {
      oneOf: [
        object({ kind: { const: "a" }, x: text }, { required: ["kind"] }),
        object({ kind: { const: "b" }, y: text }, { required: ["kind"] }),
      ],
    },
  ],
  ["oneOf of types", { oneOf: [{ type: "null" }, { type: "integer" }, text] }],
  [
    "oneOf of closed objects",
    {
      oneOf: [
        object({ a: text }, { required: ["a"], additionalProperties: false }),
        object({ b: text }, { required: ["b"], additionalProperties: false }),
      ],
    },
  ],
  [
    "values of which some are not of the type",
    { type: "string", enum: ["a", 1, null, "bb"], maxLength: 1 },
  ],
  ["values of several types", { type: ["string", "null"], enum: ["a", null, 3] }],
  [
    "a tuple with more items",
    {
      type: "array",
      prefixItems: [text, { type: "integer" }],
      items: { type: "null" },
      minItems: 4,
    },
  ],
  ["a tuple that is cut", { type: "array", prefixItems: [text, text, text], maxItems: 2 }],
  ["a tuple and no more", { type: "array", prefixItems: [text], items: false }],
  ["an older tuple", { type: "array", prefixItems: [text, { type: "null" }] }],
  ["an empty list", { type: "array", items: false }],
  ["a list with bounds", { type: "array", items: { type: "boolean" }, minItems: 1, maxItems: 2 }],
  [
    "a tree",
    {
      $ref: "#/$defs/node",
      $defs: {
        node: object(
          { name: text, children: { type: "array", items: { $ref: "#/$defs/node" } } },
          { required: ["name", "children"], additionalProperties: false },
        ),
      },
    },
  ],
  [
    "a reference into alternatives, and a definition after its use",
    object(
      { a: { $ref: "#/anyOf/0/properties/b" }, c: { $ref: "#/definitions/late" } },
      {
        required: ["a"],
        anyOf: [{ properties: { b: { type: "integer", minimum: 5 } } }, { required: ["c"] }],
        definitions: { late: { ...text, minLength: 1 } },
      },
    ),
  ],
  [
    "what a list of linked values is",
    object(
      { value: { type: "integer" }, next: { anyOf: [{ $ref: "#" }, { type: "null" }] } },
      { required: ["value", "next"] },
    ),
  ],
  [
    "names that are all described",
    object(
      { ab: text },
      {
        propertyNames: { pattern: "^a" },
        patternProperties: { "^z": { type: "null" } },
        additionalProperties: false,
      },
    ),
  ],
];

describe("a held schema", () => {
  it.each(SCHEMAS)("%s: all that is written to it fits the schema", (_, schema) => {
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    const held = holdSchema(schema);
    let fitting = 0;
    fc.assert(
      fc.property(writtenBy(held), (value) => {
        if (outOfBounds(value, held) !== null) return;
        fitting++;
        expect(validate(value), JSON.stringify({ value, errors: validate.errors })).toBe(true);
      }),
      { numRuns: 300 },
    );
    expect(fitting).toBeGreaterThan(0);
  });

  it.each<[Schema, string, RegExp]>([
    [object({ a: { not: text } }), "#/properties/a/not", /cannot be held to/],
    [{ if: {}, else: { required: ["a"] } }, "#/if", /cannot/],
    [{ type: "array", contains: text }, "#/contains", /cannot/],
    [{ type: "array", items: text, uniqueItems: true }, "#/uniqueItems", /cannot/],
    [{ type: "number", multipleOf: 0.5 }, "#/multipleOf", /cannot/],
    [{ type: "object", patternProperties: { "^a": text } }, "#/patternProperties", /cannot/],
    [{ type: "object", propertyNames: { maxLength: 3 } }, "#/propertyNames", /cannot/],
    [{ type: "object", minProperties: 1 }, "#/minProperties", /required/],
    [object({ a: text, b: text }, { maxProperties: 1 }), "#/maxProperties", /cannot/],
    [object({ a: text }, { dependentRequired: { a: ["b"] } }), "#/dependentRequired", /cannot/],
    [{ oneOf: [text, { maxLength: 3 }] }, "#/oneOf", /anyOf/],
    [object({ a: { ...text, format: "banana" } }), "#/properties/a/format", /banana/],
    [object({ a: { ...text, pattern: "(?=a)" } }), "#/properties/a/pattern", /looks ahead/],
    [{ ...text, pattern: "^a$", format: "date" }, "#", /pattern and a format/],
    [{ ...text, pattern: "^a{3}$", maxLength: 2 }, "#", /no length/],
    [{ type: "string", enum: [1, 2] }, "#", /none of its values/],
    [{ type: "integer", minimum: 3, maximum: 2 }, "#", /no number/],
    [{ type: "array", minItems: 3, maxItems: 2 }, "#", /minItems/],
    [object({}, { required: ["a"], additionalProperties: false }), "#", /does not allow/],
    [{ allOf: [text, { type: "null" }] }, "#", /two types/],
    [{ allOf: [{ $ref: "#" }, { required: ["a"] }] }, "#", /itself/],
  ])("refuses %j at %s", (schema, at, why) => {
    let error: unknown;
    try {
      holdSchema(schema);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(SchemaFault);
    expect((error as SchemaFault).at).toBe(at);
    expect((error as SchemaFault).message).toMatch(why);
  });

  it("tells where an answer is out of bounds", () => {
    const held = holdSchema(
      object({ a: { type: "array", items: { type: "number", maximum: 1 } } }),
    );
    expect(outOfBounds({ a: [0.5, 1] }, held)).toBeNull();
    expect(outOfBounds({ a: [0.5, 1.5] }, held)).toBe("/a/1");
    const long = holdSchema({ type: "string", maxLength: 5000 });
    expect(outOfBounds("x".repeat(5000), long)).toBeNull();
    expect(outOfBounds("x".repeat(5001), long)).toBe("");
  });

  it("gives up on an answer whose check would take for ever", () => {
    const list = { type: "array", items: { $ref: "#" } };
    const held = holdSchema({
      anyOf: [list, { ...list, maxItems: 900 }, { type: "number", maximum: 0 }],
    });
    let deep: unknown = 1;
    for (let level = 0; level < 60; level++) deep = [deep];
    expect(outOfBounds(deep, held)).not.toBeNull();
  });
});
