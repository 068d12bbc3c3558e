import { describe, expect, it } from "vitest";
import { schemaFault } from "./schema-fault.js";

const prop = (a: unknown, more: object = {}) => ({ type: "object", properties: { a }, ...more });

it("references are followed once each, however many there are", () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, at) => [`d${at}`, { $ref: `#/$defs/d${at + 1}` }]),
  );
  const around = { ...$defs, d20000: { anyOf: [{ $ref: "#/$defs/d0" }, { type: "string" }] } };
  expect(schemaFault({ $ref: "#/$defs/d0", $defs: around })).toBeNull();
  expect(schemaFault({ $ref: "#/$defs/d0", $defs: { ...$defs, d20000: { enum: [] } } })).toEqual({
    at: "#/$defs/d20000",
    why: expect.stringMatching(/enum/),
  });
});

describe("a schema that no grammar can be made of", () => {
  it.each<[unknown, string, RegExp]>([
    [{ type: "banana" }, "#", /type must be one of/],
    [{ type: [] }, "#", /not be empty/],
    [prop({ type: "string", pattern: "(" }), "#/properties/a", /pattern/],
    [prop({ pattern: 1 }), "#/properties/a", /pattern must be a text/],
    [prop({ $ref: "#/$defs/b" }), "#/properties/a", /leads nowhere/],
    [prop({ $ref: "#/toString" }), "#/properties/a", /leads nowhere/],
    [prop({ $ref: "https://example.com/a" }), "#/properties/a", /place in this schema/],
    [prop({ $ref: "#/$defs/b" }, { $defs: { b: 3 } }), "#/properties/a", /no schema/],
    [prop({ $ref: 1 }), "#/properties/a", /text/],
    [prop(true), "#/properties/a", /must be an object/],
    [{ type: "object", properties: [] }, "#", /properties must be an object/],
    [{ type: "object", required: "a" }, "#", /required/],
    [{ type: "object", additionalProperties: 1 }, "#", /additionalProperties/],
    [{ type: "array", items: { anyOf: [] } }, "#/items", /anyOf/],
    [{ anyOf: [{}, { enum: [] }] }, "#/anyOf/1", /enum/],
    [{ type: "string", minLength: -1 }, "#", /minLength/],
    [{ type: "integer", minimum: "3" }, "#", /minimum/],
    [{ type: "array", prefixItems: [{ format: 1 }] }, "#/prefixItems/0", /format/],
    [[], "#", /object/],
    [prop({ $ref: "#/$defs/b" }, { $defs: { b: { pattern: "(" } } }), "#/$defs/b", /pattern/],
    [prop({ $ref: "#/x/y" }, { x: { y: { items: { type: 3 } } } }), "#/x/y/items", /type/],
    [{ type: "string", minLength: 2_001 }, "#", /minLength must not be above 2000/],
  ])("is told where: %j", (schema, at, why) => {
    expect(schemaFault(schema)).toEqual({ at, why: expect.stringMatching(why) });
  });

  it.each<[unknown]>([
    [{}],
    [{ type: "string", minLength: 2_000, maxLength: 1e9 }],
    [{ type: ["string", "null"], pattern: "^\\d+$", format: "uuid" }],
    [prop({ $ref: "#/$defs/b" }, { $defs: { b: { anyOf: [{ $ref: "#/properties/a" }] } } })],
    [prop({ $ref: "#/anyOf/0" }, { anyOf: [{ type: "string" }] })],
    [{ type: "array", items: false, prefixItems: [{ const: null }] }],
    [{ type: "integer", minimum: 3, exclusiveMinimum: true, "x-own": 3 }],
  ])("is not: %j", (schema) => {
    expect(schemaFault(schema)).toBeNull();
  });
});
