import { mustBeGiven } from "./read-value.js";
import type { SchemaNode } from "./schema/keywords.js";
import { ROOT } from "./settings.js";

const EFFECTS = {
  later: "Accepted, has no effect in this version.",
  refused: "Not supported yet: setting it is an error.",
};

/**
 * The JSON Schema (draft 7, which TOML editors read) of the configuration file: what has a default
 * may be left out, and the keywords of this product are turned into words.
 */
export function configJsonSchema(): Record<string, unknown> {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Somnus configuration",
    ...fileSchema(ROOT),
  };
}

function fileSchema(node: SchemaNode): Record<string, unknown> {
  const { effect, secret, path, computed, must, required, ...plain } = node;
  const schema: Record<string, unknown> = { ...plain };
  const words = [node.description, effect && EFFECTS[effect], computed && `Default: ${computed}.`];
  const description = words.filter(Boolean).join(" ");
  if (effect === "refused") return { description, not: {} };
  if (description !== "") schema.description = description;
  if (node.properties !== undefined) {
    schema.properties = Object.fromEntries(
      Object.entries(node.properties).map(([key, property]) => [key, fileSchema(property)]),
    );
    const needed = mustBeGiven(node);
    if (needed.length > 0) schema.required = needed;
  }
  if (node.items !== undefined) schema.items = fileSchema(node.items);
  if (node.anyOf !== undefined) schema.anyOf = node.anyOf.map(fileSchema);
  return schema;
}
