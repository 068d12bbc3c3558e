/**
 * The quantization in a file's name, as the usual repositories write it: Q4_K_M, IQ2_XXS, UD-Q4_K_XL, Q4_0_4_4,
 * TQ1_0, F16, BF16, MXFP4. Always delimited, so that the "f16" of a longer word is none.
 */
const NAME =
  /(?<=^|[-._ ])(?:UD-)?(?:(?:IQ|TQ|Q)\d(?:_[0-9A-Z]{1,3})+|BF16|FP?16|FP?32|MXFP4(?:_MOE)?|NVFP4)(?=$|[-._ ])/gi;

/** Upper case, and one spelling where there are two. */
export function normalizeQuant(quant: string): string {
  return quant.toUpperCase().replace(/^FP(16|32)$/, "F$1");
}

/** The quantization that a path in a repository names: in the file's own name, else in the nearest folder's; or null. */
export function quantOfPath(path: string): string | null {
  const parts = path.replace(/\.gguf$/i, "").split("/");
  for (const part of parts.reverse()) {
    const found = part.match(NAME)?.at(-1);
    if (found !== undefined) return normalizeQuant(found);
  }
  return null;
}

/**
 * What is taken when nobody named a quantization, in this order: four to five bits a weight first, as the usual
 * balance of size and quality, then more bits, then fewer.
 */
const ORDER = [
  "Q4_K_M",
  "UD-Q4_K_XL",
  "Q4_K_L",
  "Q4_K_S",
  "MXFP4",
  "MXFP4_MOE",
  "Q4_K",
  "IQ4_NL",
  "IQ4_XS",
  "Q4_1",
  "Q4_0",
  "NVFP4",
  "UD-Q5_K_XL",
  "Q5_K_M",
  "Q5_K_S",
  "Q5_K",
  "Q5_1",
  "Q5_0",
  "UD-Q6_K_XL",
  "Q6_K",
  "Q6_K_L",
  "Q8_0",
  "UD-Q8_K_XL",
  "UD-Q3_K_XL",
  "Q3_K_XL",
  "Q3_K_L",
  "Q3_K_M",
  "IQ3_M",
  "IQ3_S",
  "Q3_K_S",
  "BF16",
  "F16",
  "F32",
];

/** The quantization taken by itself. */
export const USUAL_QUANT = ORDER[0]!;

/** The place of a quantization in the order of choice, from 0; those that are not in it come last. */
export function choiceRank(quant: string | null): number {
  const at = quant === null ? -1 : ORDER.indexOf(quant);
  return at < 0 ? ORDER.length : at;
}

/** Half precision first: every machine computes it, and more bits are not heard or seen. */
const PROJECTOR_ORDER = ["F16", "BF16", "Q8_0", "F32"];

/** The place of a projector's quantization in the order of choice, from 0; those that are not in it come last. */
export function projectorRank(quant: string | null): number {
  const at = quant === null ? -1 : PROJECTOR_ORDER.indexOf(quant);
  return at < 0 ? PROJECTOR_ORDER.length : at;
}

/** Whether `has` is what a person means by `wanted`: exactly; or one of two spellings of the same. */
export function quantMatch(wanted: string, has: string): "exact" | "same" | null {
  const name = normalizeQuant(wanted);
  if (name === has) return "exact";
  return bare(name) === bare(has) ? "same" : null;
}

function bare(quant: string): string {
  return quant.replace(/^UD-/, "").replace(/_MOE$/, "");
}
