import { join } from "node:path";
import type { Converter, InputFiles, Prepared, PrepareOptions } from "../converter.js";
import { checkWritten, elementType, layOut, writeGguf } from "../gguf-writer/index.js";
import { openWeights, WEIGHT_FILES } from "../safetensors/index.js";
import { readJson } from "../settings-file.js";
import { CONFIG_FILE, type EncoderConfig, readEncoderConfig } from "./encoder-config.js";
import { metadataOf } from "./metadata.js";
import { MODULES_FILE, readModules } from "./modules.js";
import { POOLING_FILE, readPooling } from "./pooling.js";
import { tensorsOf } from "./tensors.js";
import { readTokenizer, TOKENIZER_FILES } from "./tokenizer.js";

const TYPES = ["F16", "Q8_0", "F32"] as const;
type OutputType = (typeof TYPES)[number];

/**
 * An embedding model of the sentence-transformers library whose encoder is plain BERT (MiniLM, bge,
 * e5, gte and their like) as a GGUF file for llama.cpp.
 */
export const sentenceTransformersBert: Converter = {
  id: "sentence-transformers-bert",
  from: "a sentence-transformers model on a BERT encoder",
  to: "GGUF",
  types: TYPES,
  files: [CONFIG_FILE, MODULES_FILE, POOLING_FILE, ...TOKENIZER_FILES, ...WEIGHT_FILES],
  detect,
  prepare,
};

/** A list of modules or a pooling belongs to the library's models only; else the encoder decides. */
async function detect(folder: string): Promise<boolean> {
  const config = await contentOf(folder, CONFIG_FILE);
  if (config === null) return false;
  for (const own of [MODULES_FILE, POOLING_FILE]) {
    if ((await contentOf(folder, own)) !== null) return true;
  }
  return (config as { model_type?: unknown }).model_type === "bert";
}

/** The content of a JSON file; null when it cannot be read as a list or an object. */
async function contentOf(folder: string, name: string): Promise<object | null> {
  const content = await readJson(new Map([[name, join(folder, name)]]), name).catch(() => null);
  return typeof content === "object" ? content : null;
}

async function prepare(
  files: InputFiles,
  { type, about }: PrepareOptions,
  signal: AbortSignal,
): Promise<Prepared> {
  const config = await readEncoderConfig(files);
  const modules = await readModules(files);
  const pooling = await readPooling(files, modules.poolingFile, config.embedding);
  signal.throwIfAborted();
  const weights = await openWeights(files);
  try {
    const elements = elementType(type as OutputType);
    const tensors = tensorsOf(config, elements, weights);
    const tokenizer = await readTokenizer(files, config.vocabulary);
    const metadata = metadataOf({ config, pooling, tokenizer, elements, about });
    const layout = layOut(metadata, tensors);
    return {
      architecture: "bert",
      size: layout.size,
      notes: modules.notes,
      write: (out, stop) => writeGguf(layout, out, stop),
      check: (path, stop) => checkWritten(path, layout, summaryOf(config, pooling, type), stop),
      close: () => weights.close(),
    };
  } catch (error) {
    await weights.close();
    throw error;
  }
}

function summaryOf(config: EncoderConfig, pooling: string, type: string) {
  return {
    architecture: "bert",
    quantization: type,
    layers: config.layers,
    contextLength: config.context,
    embeddingLength: config.embedding,
    feedForwardLength: config.feedForward,
    heads: config.heads,
    vocabularySize: config.vocabulary,
    pooling,
  };
}
