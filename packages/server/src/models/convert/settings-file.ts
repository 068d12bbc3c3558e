import type { InputFiles } from "./converter.js";
import { readText } from "./input-file.js";
import { type Refuse, refusalOf, shown } from "./refusal.js";

/** Real ones have a few kilobytes; only a tokenizer is larger. */
const USUAL_BYTES = 1024 * 1024;
/** Deeper and larger than anything that describes a model, and still harmless to parse. */
const DEEPEST = 64;
const MOST_BRANCHES = 200_000;
/** A vocabulary of half a million words is the largest known. */
const MOST_ENTRIES = 1_200_000;

/** The settings of one JSON object, each looked at by name; a value of a wrong type is refused. */
export class Settings {
  readonly refuse: Refuse;
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(values: ReadonlyMap<string, unknown>, refuse: Refuse) {
    this.#values = values;
    this.refuse = refuse;
  }

  /** Undefined for a missing key and for null. */
  value(key: string): unknown {
    return this.#values.get(key) ?? undefined;
  }

  /** A whole number within the bounds. */
  integer(key: string, least: number, most: number): number {
    const value = this.value(key);
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
      throw this.refuse(
        `has ${key} = ${shown(value)}, not a whole number from ${least} to ${most}`,
      );
    }
    return value as number;
  }

  /** A number above 0 and below 1. */
  fraction(key: string): number {
    const value = this.value(key);
    if (typeof value !== "number" || !(value > 0 && value < 1)) {
      throw this.refuse(`has ${key} = ${shown(value)}, not a number between 0 and 1`);
    }
    return value;
  }

  flag(key: string): boolean | undefined {
    const value = this.value(key);
    if (value !== undefined && typeof value !== "boolean") {
      throw this.refuse(`has ${key} = ${shown(value)}, not true or false`);
    }
    return value;
  }

  text(key: string): string | undefined {
    const value = this.value(key);
    if (value !== undefined && typeof value !== "string") {
      throw this.refuse(`has ${key} = ${shown(value)}, not a text`);
    }
    return value;
  }

  /** The settings of an object within. */
  within(key: string): Settings | undefined {
    const value = this.value(key);
    return value === undefined
      ? undefined
      : settingsOf(value, (problem, cause) => this.refuse(`(${key}) ${problem}`, cause));
  }

  entries(): Iterable<[string, unknown]> {
    return this.#values;
  }
}

/**
 * A JSON file that holds one object.
 * @param mostBytes a larger file is refused unread
 * @throws SomnusError `model_unavailable` when it is missing or is something else
 */
export async function readSettings(
  files: InputFiles,
  name: string,
  mostBytes: number = USUAL_BYTES,
): Promise<Settings> {
  const refuse = refusalOf(name);
  return settingsOf(await readJson(files, name, mostBytes), refuse);
}

/** A JSON file of any shape. @throws SomnusError `model_unavailable` when it is missing or no JSON */
export async function readJson(
  files: InputFiles,
  name: string,
  mostBytes: number = USUAL_BYTES,
): Promise<unknown> {
  const refuse = refusalOf(name);
  const text = await readText(files, name, mostBytes);
  requireModest(text, refuse);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refuse("is not JSON", error);
  }
}

/** @throws SomnusError `model_unavailable` when the value is not an object */
export function settingsOf(value: unknown, refuse: Refuse): Settings {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refuse(`is ${shown(value)}, not an object`);
  }
  return new Settings(new Map(Object.entries(value)), refuse);
}

/** A short text can ask for very much memory: a million brackets are a million lists. */
function requireModest(text: string, refuse: Refuse): void {
  let depth = 0;
  let branches = 0;
  let entries = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (inString) {
      if (char === BACKSLASH) at++;
      else if (char === QUOTE) inString = false;
    } else if (char === QUOTE) {
      inString = true;
    } else if (char === OPEN_LIST || char === OPEN_OBJECT) {
      depth++;
      branches++;
    } else if (char === COMMA) {
      entries++;
    } else if (char === CLOSE_LIST || char === CLOSE_OBJECT) {
      depth--;
    }
    if (depth > DEEPEST || branches > MOST_BRANCHES || entries > MOST_ENTRIES) {
      throw refuse("nests or branches more than any description of a model");
    }
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
