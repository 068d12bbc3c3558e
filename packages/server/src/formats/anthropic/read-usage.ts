import type { TokenUsage } from "../generation.js";
import { countOf, objectOf } from "../vendor/index.js";

const FIELDS = {
  input: "input_tokens",
  read: "cache_read_input_tokens",
  written: "cache_creation_input_tokens",
  output: "output_tokens",
} as const;

/**
 * Token counts as a message tells them: at its start and, as sums, with its end. The three that say input are apart
 * from each other there; here the prompt is all of them.
 */
export class MessageCounts {
  readonly #known: { -readonly [Name in keyof typeof FIELDS]?: number } = {};

  /** Takes what was told; what is absent stays as it was. */
  add(usage: unknown): void {
    const told = objectOf(usage);
    for (const name of Object.keys(FIELDS) as (keyof typeof FIELDS)[]) {
      const count = countOf(told[FIELDS[name]]);
      if (count !== undefined) this.#known[name] = count;
    }
  }

  /** All of it; null where nothing was told of the prompt. */
  usage(): TokenUsage | null {
    const { input, read = 0, written, output = 0 } = this.#known;
    if (input === undefined) return null;
    return {
      promptTokens: input + read + (written ?? 0),
      completionTokens: output,
      cachedTokens: read,
      ...(written ? { cacheWriteTokens: written } : {}),
    };
  }
}
