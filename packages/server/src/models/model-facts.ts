import { type GgufSummary, readGgufModel } from "../gguf/index.js";

/** What a model's file says of itself. Unknown is null. */
export interface ModelFacts {
  architecture: string;
  name: string | null;
  /** Number of weights. */
  parameters: number;
  quantization: string | null;
  layers: number | null;
  /** Tokens of context it was trained for. */
  context_length: number | null;
  embedding_length: number | null;
  /** Entries of the vocabulary. */
  vocabulary_size: number | null;
  /** Null for a dense model. */
  experts: { count: number; used: number | null } | null;
  /** How an embedding model joins its tokens: "mean", "cls". */
  pooling: string | null;
  has_chat_template: boolean;
  license: string | null;
  /** Files that it is split into. */
  parts: number;
}

/**
 * Reads what a GGUF file, or the first of several parts, says of its model.
 * @throws SomnusError model_unavailable when a file is missing, or no whole GGUF
 */
export async function readModelFacts(path: string): Promise<ModelFacts> {
  return factsOf(await readGgufModel(path));
}

function factsOf(gguf: GgufSummary): ModelFacts {
  return {
    architecture: gguf.architecture,
    name: gguf.name,
    parameters: gguf.parameters,
    quantization: gguf.quantization,
    layers: gguf.layers,
    context_length: gguf.contextLength,
    embedding_length: gguf.embeddingLength,
    vocabulary_size: gguf.vocabularySize,
    experts: gguf.experts ? { count: gguf.experts, used: gguf.expertsUsed } : null,
    pooling: gguf.pooling,
    has_chat_template: gguf.chatTemplate !== null,
    license: gguf.license,
    parts: gguf.split?.count ?? 1,
  };
}
