import { describe, expect, it } from "vitest";
import { callOrJsonSchema, callSchema } from "./call-schema.js";

const city = {
  type: "object",
  properties: { city: { $ref: "#/$defs/name" } },
  $defs: { name: {} },
};
const tools = [
  { name: "weather", parameters: city },
  { name: "now", parameters: {} },
];

describe("callSchema", () => {
  it("leads a schema's references to where it stands now", () => {
    const schema = callSchema({ tools, choice: { name: "weather" }, parallel: true });
    expect(schema).toEqual({
      type: "object",
      properties: { name: { const: "weather" }, arguments: { $ref: "#/$defs/arguments0" } },
      required: ["name", "arguments"],
      additionalProperties: false,
      $defs: {
        arguments0: {
          type: "object",
          properties: { city: { $ref: "#/$defs/arguments0/$defs/d0" } },
          additionalProperties: false,
          $defs: { d0: {} },
        },
      },
    });
  });

  it("allows one call or a list, and only one where there may not be more", () => {
    const several = callSchema({ tools, choice: "required", parallel: true });
    expect(several.anyOf).toMatchObject([{ anyOf: [{}, {}] }, { type: "array", minItems: 1 }]);
    const one = callSchema({ tools, choice: "required", parallel: false });
    expect(one.anyOf).toMatchObject([
      { properties: { name: { const: "weather" } } },
      { properties: { name: { const: "now" } } },
    ]);
  });

  it("takes arguments for an object where their schema does not say", () => {
    const schema = callSchema({ tools, choice: { name: "now" }, parallel: true });
    expect(schema.$defs).toEqual({ arguments1: { type: "object" } });
  });

  it("leaves values that look like references alone", () => {
    const odd = { type: "object", properties: { a: { const: { $ref: "#/x" } } } };
    const schema = callSchema({
      tools: [{ name: "f", parameters: odd }],
      choice: "required",
      parallel: false,
    });
    expect(schema.$defs).toEqual({ arguments0: { ...odd, additionalProperties: false } });
  });
});

describe("arguments", () => {
  it("are held to what their schema says, as far as that can be", () => {
    const parameters = (a: unknown) => ({ type: "object", properties: { a } });
    const defs = (a: unknown) =>
      callSchema({
        tools: [{ name: "f", parameters: parameters(a) }],
        choice: "required",
        parallel: false,
      }).$defs;
    expect(defs({ type: "string", pattern: "b" })).toMatchObject({
      arguments0: { properties: { a: { pattern: expect.stringMatching(/^\^.*\$$/) } } },
    });
    const odd = { type: "array", uniqueItems: true };
    expect(defs(odd)).toEqual({ arguments0: parameters(odd) });
  });
});

describe("callOrJsonSchema", () => {
  it("allows calls beside the answer's own form", () => {
    const schema = callOrJsonSchema(
      { tools, choice: "auto", parallel: false },
      { anyOf: [{ $ref: "#/anyOf/1" }, { type: "string" }] },
    );
    expect(schema.anyOf).toHaveLength(2);
    expect(schema.$defs).toMatchObject({
      answer: { anyOf: [{ $ref: "#/$defs/answer/anyOf/1" }, { type: "string" }] },
    });
  });
});
