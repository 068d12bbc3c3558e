/** The way to a value in the configuration: table keys, and indices into lists. */
export type KeyPath = readonly (string | number)[];

const BARE_KEY = /^[A-Za-z0-9_-]+$/;

/** The path as people write it: `models[0].id`, `aliases."gpt-*"`. */
export function keyText(path: KeyPath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else text += `${text === "" ? "" : "."}${BARE_KEY.test(step) ? step : JSON.stringify(step)}`;
  }
  return text;
}
