import { nearest } from "../spelling/index.js";
import { type KeyPath, keyText } from "./key-path.js";
import type { SchemaNode } from "./schema/keywords.js";

/** What is wrong with one value, before it is known where the value stood. */
export interface ValueProblem {
  readonly path: KeyPath;
  readonly message: string;
  readonly suggestion: string | null;
}

/** What came out of reading a value: what could be used of it, and what is wrong with the rest. */
export interface ReadValue {
  /** The value without the parts that are wrong; `undefined` when nothing of it can be used. */
  readonly value: unknown;
  readonly problems: ValueProblem[];
  /** Settings that were given and are right, but that nothing reads yet. */
  readonly withoutEffect: KeyPath[];
}

/** Characters of a wrong value that a message repeats. */
const MAX_SHOWN = 60;

/**
 * Checks `value` against a setting's schema. `nameKey` says how the problems name a path:
 * the key itself for a file, the variable for the environment. `known` are all the keys there
 * are, for suggestions.
 */
export function readValue(
  schema: SchemaNode,
  value: unknown,
  path: KeyPath,
  known: readonly string[],
  nameKey: (path: KeyPath) => string = keyText,
): ReadValue {
  const problems: ValueProblem[] = [];
  const withoutEffect: KeyPath[] = [];
  const wrong = (at: KeyPath, message: string, suggestion: string | null = null) => {
    problems.push({ path: at, message, suggestion });
    return undefined;
  };

  const read = (node: SchemaNode, given: unknown, at: KeyPath, isSecret: boolean): unknown => {
    const secret = isSecret || node.secret === true;
    const name = () => nameKey(at);
    const got = () => (secret ? "what is set there cannot be used" : `not ${show(given)}`);
    if (node.effect === "refused") {
      return wrong(at, `${name()} is not supported yet; take it out.`);
    }
    if (node.effect === "later") {
      const before = problems.length;
      const { effect: _, ...checked } = node;
      const clean = read(checked, given, at, secret);
      if (problems.length === before) withoutEffect.push(at);
      return clean;
    }
    if (node.anyOf !== undefined) {
      if (node.anyOf.some((branch) => choicesOf(branch)?.includes(given))) return given;
      const fitting = node.anyOf.filter(
        (branch) => choicesOf(branch) === null && hasType(branch, given),
      );
      if (fitting.length === 1) return read(fitting[0]!, given, at, secret);
      return wrong(at, `${name()} must be ${describe(node)}, ${got()}.`);
    }
    const choices = choicesOf(node);
    if (choices !== null) {
      if (choices.includes(given)) return given;
      const meant = typeof given === "string" && !secret ? nearest(given, strings(choices)) : null;
      return wrong(
        at,
        `${name()} must be ${describe(node)}, ${got()}.`,
        meant === null ? null : `Did you mean ${JSON.stringify(meant)}?`,
      );
    }
    if (!hasType(node, given)) {
      return wrong(at, `${name()} must be ${describe(node)}, ${got()}.`, tableHint(at, given));
    }
    if (typeof given === "number") {
      const bound = outOfBounds(node, given);
      return bound === null ? given : wrong(at, `${name()} must be ${bound}, ${got()}.`);
    }
    if (typeof given === "string") {
      if (given.length < (node.minLength ?? 0)) return wrong(at, `${name()} must not be empty.`);
      if (node.pattern !== undefined && !new RegExp(node.pattern).test(given)) {
        return wrong(at, `${name()} must ${node.must ?? `match ${node.pattern}`}; ${got()}.`);
      }
      return given;
    }
    if (Array.isArray(given)) {
      if (given.length < (node.minItems ?? 0)) return wrong(at, `${name()} must not be empty.`);
      if (given.length > (node.maxItems ?? Number.POSITIVE_INFINITY)) {
        return wrong(at, `${name()} must have at most ${node.maxItems} entries.`);
      }
      return given
        .map((item: unknown, index) => read(node.items ?? {}, item, [...at, index], secret))
        .filter((item) => item !== undefined);
    }
    if (node.type === "object") return readTable(node, given as object, at, secret);
    return given;
  };

  const readTable = (node: SchemaNode, given: object, at: KeyPath, secret: boolean): object => {
    // Without a prototype, a key called `constructor` is a key like any other.
    const table: Record<string, unknown> = Object.create(null);
    for (const [key, item] of Object.entries(given)) {
      const property = ownProperty(node, key);
      if (property === undefined) {
        wrong(
          [...at, key],
          `There is no setting ${clip(nameKey([...at, key]))}.`,
          suggestKey(node, key, at, known),
        );
        continue;
      }
      const clean = read(property, item, [...at, key], secret);
      if (clean !== undefined) table[key] = clean;
    }
    for (const key of mustBeGiven(node)) {
      if (!Object.hasOwn(given, key)) {
        wrong(at, `${nameKey(at)} needs ${key}: ${lowerFirst(node.properties![key]!.description)}`);
      }
    }
    return table;
  };

  return { value: read(schema, value, path, false), problems, withoutEffect };
}

/** The schema of a table's key, if it may have that key. */
export function ownProperty(node: SchemaNode, key: string): SchemaNode | undefined {
  if (node.properties !== undefined && Object.hasOwn(node.properties, key)) {
    return node.properties[key];
  }
  return typeof node.additionalProperties === "object" ? node.additionalProperties : undefined;
}

/** The keys that a table must spell out: they have no default, not even in a table below. */
export function mustBeGiven(node: SchemaNode): string[] {
  return (node.required ?? []).filter((key) => {
    const property = node.properties![key]!;
    return (
      property.default === undefined &&
      property.computed === undefined &&
      property.type !== "object"
    );
  });
}

function choicesOf(node: SchemaNode): readonly unknown[] | null {
  return node.enum ?? (node.const === undefined ? null : [node.const]);
}

function hasType(node: SchemaNode, value: unknown): boolean {
  if (node.anyOf !== undefined) return node.anyOf.some((branch) => hasType(branch, value));
  switch (node.type) {
    case "object":
      return isTable(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case undefined:
      return node.const === undefined || typeof value === typeof node.const;
    default:
      return typeof value === node.type;
  }
}

/** A plain table: a date is an object too, but no table. */
function isTable(value: unknown): value is object {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date)
  );
}

function outOfBounds(node: SchemaNode, value: number): string | null {
  const { minimum, maximum, exclusiveMinimum } = node;
  const tooSmall =
    (minimum !== undefined && value < minimum) ||
    (exclusiveMinimum !== undefined && value <= exclusiveMinimum);
  if (!tooSmall && (maximum === undefined || value <= maximum)) return null;
  const range = bounds(node);
  return range === "" ? "in range" : range;
}

/** The range in words: "from 1 to 65535", "more than 0". */
export function bounds({ minimum, maximum, exclusiveMinimum }: SchemaNode): string {
  const lower =
    exclusiveMinimum !== undefined
      ? `more than ${exclusiveMinimum}`
      : minimum !== undefined
        ? `at least ${minimum}`
        : "";
  if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return lower;
  if (lower === "") return `at most ${maximum}`;
  return exclusiveMinimum === undefined
    ? `from ${minimum} to ${maximum}`
    : `${lower} and at most ${maximum}`;
}

/** What a value of this schema is, in words: "a whole number", `"queue" or "shed"`. */
export function describe(node: SchemaNode): string {
  if (node.anyOf !== undefined) return orList(node.anyOf.map(describe));
  if (node.enum !== undefined) return orList(node.enum.map((choice) => JSON.stringify(choice)));
  if (node.const !== undefined) return JSON.stringify(node.const);
  switch (node.type) {
    case "object":
      return "a table";
    case "array":
      if (node.items?.type === "object") return "a list of tables";
      return node.items?.type === "string" ? "a list of strings" : "a list";
    case "string":
      return "a string";
    case "integer":
      return "a whole number";
    case "number":
      return "a number";
    case "boolean":
      return "true or false";
    default:
      return "something else";
  }
}

function orList(words: readonly string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

/** A value as it may stand in a message: short, on one line. */
function show(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  if (isTable(value)) return "a table";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return clip(text);
}

function clip(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${[...text].slice(0, MAX_SHOWN).join("")}...`;
}

function strings(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === "string");
}

/** The usual slip with lists of tables. */
function tableHint(at: KeyPath, given: unknown): string | null {
  if (at.length === 1 && at[0] === "models" && isTable(given)) {
    return "Write [[models]] for a model; what holds for all models is in [pool].";
  }
  return null;
}

/** Where the unknown `key` of the table at `at` probably belongs. */
function suggestKey(
  node: SchemaNode,
  key: string,
  at: KeyPath,
  known: readonly string[],
): string | null {
  const lastOf = (dotted: string) => dotted.slice(dotted.lastIndexOf(".") + 1);
  const elsewhere = known.filter((dotted) => lastOf(dotted) === key);
  const sibling = nearest(key, Object.keys(node.properties ?? {}));
  const further = sibling === null ? nearest(key, known.map(lastOf)) : null;
  const meant =
    elsewhere[0] ??
    (sibling !== null
      ? keyText([...at, sibling])
      : known.find((dotted) => further !== null && lastOf(dotted) === further));
  return meant === undefined ? null : `Did you mean ${meant}?`;
}

function lowerFirst(text = ""): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
