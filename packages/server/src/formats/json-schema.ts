import { holdSchema, type Schema, SchemaFault } from "./held-schema/index.js";
import { MOST_COST, schemaCost } from "./schema-cost.js";
import { schemaFault } from "./schema-fault.js";

/** Engines parse a schema by recursion: some ten thousand levels end their process. */
export const DEEPEST = 64;
/** Their grammar grows with the schema; what is larger takes minutes to compile. Characters of its JSON. */
const LONGEST = 256 * 1024;

/**
 * Why a schema is not one that an engine can be given, as the end of a sentence whose subject is the
 * schema; null when it is fine: its size, and what no engine could make a grammar of.
 */
export function schemaRefusal(schema: unknown): string | null {
  if (isDeeperThan(schema, DEEPEST)) return `is nested more than ${DEEPEST} levels deep`;
  if (JSON.stringify(schema).length > LONGEST) {
    return `is longer than ${LONGEST / 1024} KiB`;
  }
  if (schemaCost(schema) > MOST_COST) {
    return "has so many optional properties, or counts so high, that no answer can be held to it";
  }
  const fault = schemaFault(schema);
  return fault === null ? null : `is wrong at ${fault.at}: ${fault.why}`;
}

/**
 * Why no answer can be held to all that a schema says, as the end of a sentence whose subject is the schema; null when
 * one can: engines pass over what their grammars do not know.
 */
export function holdingRefusal(schema: Schema): string | null {
  const refusal = schemaRefusal(schema);
  if (refusal !== null) return refusal;
  try {
    const held = holdSchema(schema);
    const isTooMuch = JSON.stringify(held).length > 2 * LONGEST || schemaCost(held) > MOST_COST;
    return isTooMuch ? "has too many alternatives to be held to" : null;
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    return `cannot be held to at ${error.at}: ${error.message}`;
  }
}

/** Whether arrays and objects stand in each other more than so often. Walks without recursion: the value is a client's and may be as deep as its body allows. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  const open: [unknown, number][] = [[value, 1]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [at, depth] = next;
    if (typeof at !== "object" || at === null) continue;
    if (depth > limit) return true;
    for (const child of Object.values(at)) open.push([child, depth + 1]);
  }
  return false;
}
