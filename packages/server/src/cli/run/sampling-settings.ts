import { nearest } from "../../spelling/index.js";

/** Fields of a chat request that `/set` knows, and how their values are written. */
const SETTINGS = {
  temperature: "number",
  max_tokens: "whole number",
  top_p: "number",
  top_k: "whole number",
  min_p: "number",
  repeat_penalty: "number",
  presence_penalty: "number",
  frequency_penalty: "number",
  seed: "whole number",
  num_ctx: "whole number",
  keep_alive: "text",
  stop: "text",
} as const;

export const SETTING_NAMES = Object.keys(SETTINGS);

/** A setting as it was typed; without a value it goes back to its default. The server checks ranges. */
export function readSetting(
  name: string,
  text: string,
): { name: string; value: string | number | undefined } | { problem: string } {
  const key = name.toLowerCase().replaceAll("-", "_");
  if (!Object.hasOwn(SETTINGS, key)) {
    const meant = nearest(key, SETTING_NAMES);
    const hint =
      meant === null ? `There are ${SETTING_NAMES.join(", ")}.` : `Did you mean ${meant}?`;
    return { problem: `There is no setting ${name}. ${hint}` };
  }
  const kind = SETTINGS[key as keyof typeof SETTINGS];
  const given = text.replace(/^=\s*/, "");
  if (given === "" || given === "default") return { name: key, value: undefined };
  if (kind === "text") return { name: key, value: given };
  const value = Number(given);
  const isRight = kind === "number" ? Number.isFinite(value) : Number.isSafeInteger(value);
  return isRight ? { name: key, value } : { problem: `${key} takes a ${kind}, not ${given}.` };
}
