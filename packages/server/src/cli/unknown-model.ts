import { nearest } from "../spelling/index.js";
import { CliFailure } from "./failure.js";

/**
 * That nothing is called `name` among what is known, with the nearest name.
 * @param where how to see all that there is
 */
export function unknownModel(
  known: readonly { id: string; quant: string | null }[],
  name: string,
  where = "What is installed: somnus list; what can be had: somnus catalog",
): CliFailure {
  const variants = known.filter(({ id }) => name.toLowerCase().startsWith(`${id.toLowerCase()}:`));
  if (variants.length > 0) {
    const quants = variants.map(({ id, quant }) => `${id}:${quant}`);
    return new CliFailure(`There is no ${name}.`, { advice: `There is ${quants.join(", ")}.` });
  }
  const longer = known.filter(({ id }) => id.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  if (longer.length > 0) {
    const ids = [...new Set(longer.map(({ id }) => id))];
    return new CliFailure(`There is no model "${name}".`, {
      advice: `There is ${ids.join(", ")}.`,
    });
  }
  const meant = nearest(name, [...new Set(known.map(({ id }) => id))]);
  return new CliFailure(`There is no model "${name}".`, {
    advice: `${meant === null ? "" : `Did you mean ${meant}? `}${where}`,
  });
}
