import { holdSchema, SchemaFault, type ToolOffer } from "../../../formats/index.js";

type Schema = Readonly<Record<string, unknown>>;

/**
 * Most calls of one answer that has to be calls: a small model that may go on with a list does so until it
 * is cut.
 */
const MOST_CALLS = 16;

/** Where a schema holds values, not schemas. */
const VALUES = new Set(["const", "enum", "default", "examples"]);

/**
 * What an answer has to be that may only be calls: an object with a function's name and its arguments, or,
 * where several are allowed, a list of them.
 */
export function callSchema(offer: ToolOffer): Schema {
  const { choice, tools } = offer;
  const defs: Record<string, unknown> = {};
  const calls = tools.flatMap(({ name, parameters }, index) => {
    if (typeof choice === "object" && choice.name !== name) return [];
    const key = `arguments${index}`;
    defs[key] = moved(held(asObject(parameters)), `#/$defs/${key}`);
    return {
      type: "object",
      properties: { name: { const: name.toWellFormed() }, arguments: { $ref: `#/$defs/${key}` } },
      required: ["name", "arguments"],
      additionalProperties: false,
    };
  });
  const one = calls.length === 1 ? calls[0]! : { anyOf: calls };
  if (!severalCalls(offer)) return { ...one, $defs: defs };
  return {
    anyOf: [one, { type: "array", items: one, minItems: 1, maxItems: MOST_CALLS }],
    $defs: defs,
  };
}

/** What an answer has to be that is either calls or JSON of a form of its own. */
export function callOrJsonSchema(offer: ToolOffer, json: Schema | undefined): Schema {
  const { $defs, ...calls } = callSchema(offer);
  const answer = moved(json ?? { type: "object" }, "#/$defs/answer");
  return {
    anyOf: [calls, { $ref: "#/$defs/answer" }],
    $defs: { ...($defs as Schema), answer },
  };
}

/** Whether one answer may hold more than one call. */
export function severalCalls(offer: ToolOffer): boolean {
  return offer.parallel && typeof offer.choice === "string";
}

/** A schema of arguments as far as it can be held to: a function may say more than that of what it takes. */
function held(schema: Schema): Schema {
  try {
    return holdSchema(schema);
  } catch (error) {
    if (error instanceof SchemaFault) return schema;
    throw error;
  }
}

/** Arguments are an object also where their schema does not say so. */
function asObject(schema: Schema): Schema {
  const says = ["type", "$ref", "anyOf", "oneOf", "allOf"].some((key) => key in schema);
  return says ? schema : { type: "object", ...schema };
}

/** A schema that stands at `path` of another document: references into itself are led there. */
function moved(schema: Schema, path: string): Schema {
  const move = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(move);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, held]) => {
        if (key === "$ref" && typeof held === "string" && held.startsWith("#")) {
          return [key, `${path}${held.slice(1)}`];
        }
        return [key, VALUES.has(key) ? held : move(held)];
      }),
    );
  };
  return move(schema) as Schema;
}
