import type { InputFiles } from "../converter.js";
import { shown } from "../refusal.js";
import { readSettings, type Settings } from "../settings-file.js";

/** Where the library keeps the settings of the pooling. */
export const POOLING_FILE = "1_Pooling/config.json";

/** How the vectors of an input's tokens become one, as `enum llama_pooling_type` in llama.cpp's llama.h has it. */
export const POOLINGS = { mean: 1, cls: 2, last: 3 } as const;
export type Pooling = keyof typeof POOLINGS;

/** The library's names of the poolings that engines compute. */
const BY_NAME: ReadonlyMap<string, Pooling> = new Map([
  ["mean", "mean"],
  ["mean_tokens", "mean"],
  ["cls", "cls"],
  ["cls_token", "cls"],
  ["lasttoken", "last"],
]);

const FLAG = /^pooling_mode_(.+)$/;

/**
 * Reads how the model pools.
 * @param embedding elements of a token's vector
 * @throws SomnusError `model_unavailable` when the file is missing, or names none, several or an unsupported way
 */
export async function readPooling(
  files: InputFiles,
  name: string,
  embedding: number,
): Promise<Pooling> {
  const settings = await readSettings(files, name);
  const named = modesOf(settings);
  if (named.length !== 1) {
    throw settings.refuse(
      `switches ${named.length} ways of pooling on (${named.join(", ")}); an engine computes one`,
    );
  }
  const pooling = BY_NAME.get(named[0]!);
  if (pooling === undefined) {
    throw settings.refuse(
      `pools by ${shown(named[0])}, which is not supported: an engine computes mean, cls and last`,
    );
  }
  const dimension = settings.value("word_embedding_dimension") ?? embedding;
  if (dimension !== embedding) {
    throw settings.refuse(
      `is for vectors of ${shown(dimension)} elements, the encoder has ${embedding}`,
    );
  }
  return pooling;
}

/** Newer files name the way, older ones have a switch for each. */
function modesOf(settings: Settings): string[] {
  const named = settings.text("pooling_mode");
  if (named !== undefined) return [named];
  const switches: string[] = [];
  for (const [key] of settings.entries()) {
    const mode = FLAG.exec(key)?.[1];
    if (mode !== undefined && settings.flag(key) === true) switches.push(mode);
  }
  return switches;
}
