import { convolutionElements, scanElements } from "../kv-memory.js";
import type { Batch } from "./batch.js";
import { F32 } from "./elements.js";
import type { Tensor } from "./graph-memory.js";

/**
 * The large tensors of a recurrent layer: the projection, the convolution over its past, and the scan with the new
 * states (`build_mamba_layer` and `build_mamba2_layer`, src/models/mamba-base.cpp). Others are of the same order.
 */
export function recurrence(
  { graph, gguf, want, tokens: n, embeddingBytes }: Batch,
  normal: Tensor,
): Tensor {
  const from = gguf.recurrence;
  const kernel = Math.max(1, from?.convolutionKernel ?? from?.shortConvolutionCache ?? 1);
  const width = convolutionElements(gguf) / Math.max(1, kernel - 1) || (gguf.embeddingLength ?? 0);
  const inner = from?.innerSize ?? gguf.embeddingLength ?? 0;
  const projected = graph.compute(F32 * (width + inner) * n, [normal]);
  const past = graph.compute(F32 * convolutionElements(gguf) * want.slots, []);
  const longer = graph.compute(F32 * width * (n + (kernel - 1) * want.slots), [past, projected]);
  const convolved = graph.compute(F32 * width * n, [longer]);
  const active = graph.overwrite(convolved.bytes, [convolved]);
  const scan = graph.compute(F32 * (inner * n + scanElements(gguf) * want.slots), [active]);
  const gate = graph.compute(F32 * inner * n, [projected]);
  const gated = graph.compute(F32 * inner * n, [gate, scan]);
  return graph.compute(embeddingBytes, [gated]);
}
