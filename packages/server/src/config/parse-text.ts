import type { SchemaNode } from "./schema/keywords.js";

const TRUE = new Set(["true", "1", "yes", "on"]);
const FALSE = new Set(["false", "0", "no", "off"]);

/**
 * The value that a text means for a setting: `true/false/1/0/yes/no/on/off` for a switch, decimal
 * digits for numbers, commas between the entries of a list. A text that means nothing there comes
 * back as it is, and the schema's check then says what was expected.
 */
export function parseText(schema: SchemaNode, text: string): unknown {
  if (schema.anyOf !== undefined) {
    const list = schema.anyOf.find((branch) => branch.type === "array");
    const isChoice = schema.anyOf.some(
      (branch) => branch.const === text || branch.enum?.includes(text) === true,
    );
    const takesAnyText = schema.anyOf.some(
      (branch) => branch.type === "string" && branch.enum === undefined,
    );
    if (isChoice || list === undefined) return text;
    return text.includes(",") || !takesAnyText ? parseText(list, text) : text;
  }
  switch (schema.type) {
    case "boolean": {
      const word = text.toLowerCase();
      return TRUE.has(word) ? true : FALSE.has(word) ? false : text;
    }
    case "integer":
      return /^[+-]?[0-9]{1,16}$/.test(text) ? Number(text) : text;
    case "number":
      return /^[+-]?[0-9]{1,16}(\.[0-9]{1,16})?$/.test(text) ? Number(text) : text;
    case "array":
      return text
        .split(",")
        .map((entry) => entry.trim())
        .filter((entry) => entry !== "")
        .map((entry) => parseText(schema.items ?? {}, entry));
    default:
      return text;
  }
}
