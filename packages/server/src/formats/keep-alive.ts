import { SomnusError } from "../http/errors.js";

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * How long a model stays loaded, in ms: seconds as a number, or "90s", "5m", "1h30m". Negative is
 * for good (Infinity), as clients of Ollama write it.
 * @throws SomnusError invalid_request naming keep_alive
 */
export function parseKeepAlive(value: number | string): number {
  if (typeof value === "number") return value < 0 ? Number.POSITIVE_INFINITY : value * 1_000;
  const text = value.trim();
  if (/^-?\d+(\.\d+)?$/.test(text)) return parseKeepAlive(Number(text));
  const match = /^(-?)((?:\d+(?:\.\d+)?(?:ms|s|m|h))+)$/.exec(text);
  if (!match) {
    throw new SomnusError(
      "invalid_request",
      'keep_alive must be a number of seconds or a duration such as "5m" or "1h30m".',
      { param: "keep_alive" },
    );
  }
  if (match[1] === "-") return Number.POSITIVE_INFINITY;
  let total = 0;
  for (const [, amount, unit] of match[2]!.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    total += Number(amount) * UNIT_MS[unit!]!;
  }
  return total;
}
