import { expect, it } from "vitest";
import { schemaRefusal } from "./json-schema.js";

/** A schema with this many objects inside each other. */
function nested(levels: number): unknown {
  let schema: unknown = {};
  for (let level = 1; level < levels; level++) schema = { items: schema };
  return schema;
}

it("lets through what an engine can take, up to 64 levels", () => {
  expect(schemaRefusal({ type: "object", properties: { a: { enum: [1, null] } } })).toBeNull();
  expect(schemaRefusal(nested(64))).toBeNull();
});

it("refuses a schema that would end the engine, however deep it is", () => {
  for (const levels of [65, 50_000]) expect(schemaRefusal(nested(levels))).toMatch(/64 levels/);
  let lists: unknown = [];
  for (let level = 0; level < 100; level++) lists = [lists];
  expect(schemaRefusal({ enum: lists })).toMatch(/64 levels/);
});

it("refuses a schema that would take minutes to compile", () => {
  const wide = { enum: Array.from({ length: 100_000 }, (_, at) => `value ${at}`) };
  expect(schemaRefusal(wide)).toMatch(/longer than 256 KiB/);
});

it("refuses a schema whose grammar grows with the square of its properties", () => {
  const names = Array.from({ length: 1_500 }, (_, at) => `p${at}`);
  const schema = { properties: Object.fromEntries(names.map((name) => [name, {}])) };
  expect(schemaRefusal(schema)).toMatch(/so many optional properties/);
  expect(schemaRefusal({ ...schema, required: names })).toBeNull();
  expect(schemaRefusal({ items: Array(300).fill({ maxLength: 2_000 }) })).toMatch(/counts so high/);
  expect(schemaRefusal({ items: Array(300).fill({ maxLength: 50_000 }) })).toBeNull();
});
