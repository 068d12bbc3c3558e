import { InvalidArgumentError } from "commander";

/** Reads an option that counts something: a whole number from 1 on. `what` names it in the error: "tokens". */
export function wholeNumber(what: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < 1) {
      throw new InvalidArgumentError(`It must be a whole number of ${what}.`);
    }
    return value;
  };
}
