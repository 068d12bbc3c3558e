import { SomnusError } from "../../http/errors.js";

/** Makes the error for one input from a sentence part that says what is wrong with it. */
export type Refuse = (problem: string, cause?: unknown) => SomnusError;

/** The `Refuse` of one input, `name` as the converter knows it. Its errors are `model_unavailable`. */
export function refusalOf(name: string): Refuse {
  return (problem, cause) =>
    new SomnusError("model_unavailable", `The model cannot be converted: ${name} ${problem}.`, {
      cause,
    });
}

const SHOWN_CHARACTERS = 60;

/** Text of an input as it may stand in a message: in quotes, shortened, control characters escaped. */
export function quoted(text: string): string {
  return JSON.stringify(
    text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text,
  );
}

/** A value of a JSON file as it may stand in a message. */
export function shown(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
