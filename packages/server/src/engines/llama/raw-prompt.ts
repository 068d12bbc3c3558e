import type { GenerationRequest, RawPrompt } from "../../formats/index.js";
import { SomnusError } from "../../http/errors.js";
import type { TokenFrame } from "../engine.js";
import { type Ask, promptTokens, specialToken, tokenize } from "./whole-answers.js";

/** The tokens around what stands before and after a gap, as model families spell them: before, after, gap. */
const GAP_MARKS: readonly (readonly [string, string, string])[] = [
  ["<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"],
  ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"],
  ["<fim-prefix>", "<fim-suffix>", "<fim-middle>"],
  ["<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"],
  ["▁<PRE>", "▁<SUF>", "▁<MID>"],
  ["<PRE>", "<SUF>", "<MID>"],
  ["<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"],
  ["<|prefix|>", "<|suffix|>", "<|middle|>"],
];

/** Makes prompts of one loaded model ready for its engine. */
export class RawPrompts {
  #marks: Promise<readonly [number, number, number] | null> | undefined;

  /** @param frame what the model has around a prompt */
  constructor(
    private readonly ask: Ask,
    private readonly frame: (signal: AbortSignal) => Promise<TokenFrame>,
  ) {}

  /**
   * A prompt as `/v1/completions` takes it. One with a gap is written as token ids, so that nothing in a
   * client's text is taken for a mark.
   * @throws SomnusError invalid_request when the model knows no gaps
   */
  async ready(prompt: RawPrompt, signal: AbortSignal): Promise<string | readonly number[]> {
    if ("tokens" in prompt) return prompt.tokens;
    if (prompt.suffix === undefined) return prompt.text.toWellFormed();
    const marks = await this.#gapMarks(signal);
    if (marks === null) {
      throw new SomnusError(
        "invalid_request",
        "This model has no tokens for a gap, so it cannot write before a suffix; leave suffix out.",
        { param: "suffix" },
      );
    }
    const [before = [], after = []] = await tokenize(
      this.ask,
      [prompt.text, prompt.suffix],
      signal,
    );
    const around = await this.frame(signal);
    return [...around.before, marks[0], ...before, marks[1], ...after, marks[2]];
  }

  /** Tokens of the longest of a request's prompts. @throws SomnusError as `ready` */
  async longest(request: GenerationRequest, signal: AbortSignal): Promise<number> {
    let longest = 0;
    for (const prompt of request.prompts ?? []) {
      const ready = await this.ready(prompt, signal);
      const tokens =
        typeof ready === "string" ? await promptTokens(this.ask, ready, signal) : ready;
      longest = Math.max(longest, tokens.length);
    }
    return longest;
  }

  async #gapMarks(signal: AbortSignal): Promise<readonly [number, number, number] | null> {
    this.#marks ??= this.#findGapMarks(signal).catch((error) => {
      this.#marks = undefined;
      throw error;
    });
    return this.#marks;
  }

  async #findGapMarks(signal: AbortSignal): Promise<readonly [number, number, number] | null> {
    for (const spelled of GAP_MARKS) {
      const ids = await Promise.all(spelled.map((mark) => specialToken(this.ask, mark, signal)));
      const [before, after, gap] = ids;
      if (before == null || after == null || gap == null) continue;
      return [before, after, gap];
    }
    return null;
  }
}
