import { SomnusError } from "../http/errors.js";

/** Makes the error for one file from a sentence part that says what is wrong with it. */
export type Refuse = (problem: string, cause?: unknown) => SomnusError;

/**
 * The `Refuse` of one file. Its errors are `model_unavailable` and name the file without its folder.
 *
 * @param fileName base name of the file
 */
export function refusalOf(fileName: string): Refuse {
  return (problem, cause) =>
    new SomnusError(
      "model_unavailable",
      `The model file ${quoted(fileName)} cannot be used: ${problem}.`,
      { cause },
    );
}

const SHOWN_CHARACTERS = 80;

/** Text of a file as it may stand in a message: in quotes, shortened, control characters escaped. */
export function quoted(text: string): string {
  const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
  return JSON.stringify(shown);
}

/** A count for people: 1234567 is "1,234,567". */
export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
