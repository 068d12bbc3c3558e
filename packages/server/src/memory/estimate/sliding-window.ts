import type { GgufSummary } from "../../gguf/index.js";

/** The sliding-window layers of a model. */
export interface SlidingWindow {
  /** Tokens that they look back. */
  tokens: number;
  /** For each layer, whether it is one. */
  layers: boolean[];
}

/** How an architecture's layers get a window where its file does not list them. */
interface Rule {
  /** One layer in so many looks at everything; null: only the file's own list counts. */
  period: number | null;
  /** The layer that looks at everything is the first of a period, not the last. */
  denseFirst?: true;
  /** Window where the file gives none. */
  tokens?: number;
  /** Window whatever the file gives. */
  always?: number;
  /** Window where the file gives any. */
  whenGiven?: number;
}

/**
 * Architectures that llama.cpp gives a window to: `swa_type`, `n_swa` and `load_swa_pattern` in
 * `load_arch_hparams` of each file in its src/models. A window in the file of any other one is
 * ignored there, and so here.
 */
const RULES: Readonly<Record<string, Rule>> = {
  afmoe: { period: 4 },
  cohere2: { period: 4 },
  cohere2moe: { period: 4, denseFirst: true },
  dots3note: { period: null },
  "exaone-moe": { period: 4, tokens: 128 },
  exaone4: { period: 4, tokens: 4096 },
  gemma2: { period: 2, tokens: 4096 },
  gemma3: { period: 6 },
  "gemma-embedding": { period: 6 },
  gemma3n: { period: 5 },
  gemma4: { period: null },
  "gemma4-assistant": { period: null },
  "gpt-oss": { period: 2 },
  granite_swa: { period: null },
  laguna: { period: 4, denseFirst: true },
  llama4: { period: 4, always: 8192 },
  maple: { period: null },
  mellum: { period: 4 },
  mimo2: { period: null },
  "modern-bert": { period: 3, denseFirst: true },
  "muse-glimmer": { period: 4 },
  olmo2: { period: 4 },
  plamo3: { period: 8 },
  smallthinker: { period: 4, denseFirst: true, whenGiven: 4096 },
  spark2_5: { period: null },
  step35: { period: null },
};

/** Layers of the one exaone4 model that has a window (`llama_model_exaone4::load_arch_hparams`). */
const EXAONE4_WINDOW_LAYERS = 64;

/** The sliding-window layers of a model of `count` layers; null when the engine gives it none. */
export function slidingLayers(gguf: GgufSummary, count: number): SlidingWindow | null {
  const { architecture, slidingWindow, attention } = gguf;
  if (architecture === "lfm2") return lfm2Layers(gguf, count);
  const rule = RULES[architecture];
  if (rule === undefined) return null;
  if (architecture === "exaone4" && count !== EXAONE4_WINDOW_LAYERS) return null;
  const given = slidingWindow === null ? null : (rule.whenGiven ?? slidingWindow);
  const tokens = rule.always ?? given ?? rule.tokens ?? null;
  if (tokens === null) return null;
  const listed = attention.slidingLayers;
  if (listed !== null) return { tokens, layers: padded(listed, count) };
  const period = rule.period === null ? null : (attention.slidingPeriod ?? rule.period);
  if (period === null) return null;
  const last = count - (gguf.predictionLayers ?? 0);
  return {
    tokens,
    layers: Array.from({ length: count }, (_, at) => at < last && inWindow(at, period, rule)),
  };
}

/** `llama_hparams::set_swa_pattern` (llama-hparams.cpp). */
function inWindow(at: number, period: number, { denseFirst }: Rule): boolean {
  if (period === 0) return true;
  return denseFirst ? at % period !== 0 : at % period < period - 1;
}

/** `llama_model_lfm2::load_arch_hparams`: every layer with attention. */
function lfm2Layers(gguf: GgufSummary, count: number): SlidingWindow | null {
  if (gguf.slidingWindow === null) return null;
  const heads = gguf.kvHeads;
  return {
    tokens: gguf.slidingWindow,
    layers: Array.from({ length: count }, (_, at) =>
      Array.isArray(heads) ? (heads[at] ?? 0) > 0 : true,
    ),
  };
}

function padded(listed: readonly boolean[], count: number): boolean[] {
  return Array.from({ length: count }, (_, at) => listed[at] === true);
}
