import { type Batch, normed } from "./batch.js";
import { F32, I32 } from "./elements.js";
import type { Tensor } from "./graph-memory.js";

/** Token vectors; the ways that take vectors instead are laid out beside them (`ggml_build_forward_select`). */
export function embed({ graph, gguf, inputs, embeddingBytes }: Batch): Tensor {
  const tokens = graph.compute(embeddingBytes, [inputs.ids]);
  if (inputs.mixedVectors && inputs.mixedIds && inputs.mixedSlots) {
    const mixed = graph.compute(embeddingBytes, [inputs.mixedIds]);
    const copy = graph.compute(embeddingBytes, [inputs.mixedVectors], true);
    graph.use([mixed, inputs.mixedSlots, copy]);
  }
  if (inputs.scale) return graph.overwrite(embeddingBytes, [tokens, inputs.scale]);
  if (!gguf.architecture.includes("bert")) return tokens;
  const types = graph.overwrite(embeddingBytes, [tokens]);
  const places = graph.compute(embeddingBytes, [inputs.positions]);
  return normed(graph, graph.overwrite(embeddingBytes, [places, types]), true);
}

/** Logits of the wanted tokens; for an encoder the pooled vectors (`build_pooling`, llama-graph.cpp). */
export function head(batch: Batch, stream: Tensor, outputs: number): void {
  const { graph, gguf, encoder } = batch;
  if (encoder) {
    pool(batch, stream);
    return;
  }
  const normal = normed(graph, stream);
  graph.compute(F32 * (gguf.vocabularySize ?? 0) * outputs, [normal], true);
}

function pool({ graph, gguf, want, tokens: n }: Batch, stream: Tensor): void {
  const vectors = F32 * (gguf.embeddingLength ?? 0) * want.slots;
  if (gguf.pooling === "mean") {
    const means = graph.input(F32 * n * want.slots);
    graph.compute(vectors, [graph.compute(stream.bytes, [stream]), means], true);
  } else if (gguf.pooling !== null && gguf.pooling !== "none") {
    graph.compute(vectors, [stream, graph.input(I32 * want.slots)], true);
  }
}
