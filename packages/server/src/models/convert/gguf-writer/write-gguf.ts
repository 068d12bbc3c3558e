import { SomnusError } from "../../../http/errors.js";
import type { Output } from "../converter.js";
import type { ElementType } from "./element-type.js";
import { type GgufLayout, type GgufTensor, padding } from "./layout.js";

/**
 * Writes a laid out file front to back; one piece of one tensor is in memory at a time.
 * @throws SomnusError `model_unavailable` when a value is too large for the type it shall have
 */
export async function writeGguf(
  layout: GgufLayout,
  out: Output,
  signal: AbortSignal,
): Promise<void> {
  await out.write(layout.header);
  let encoded = new Uint8Array(0);
  for (const { tensor, bytes } of layout.tensors) {
    let written = 0;
    for await (const values of tensor.values(signal)) {
      requireStorable(values, tensor);
      const length = (values.length / tensor.type.blockElements) * tensor.type.blockBytes;
      if (encoded.length < length) encoded = new Uint8Array(length);
      const piece = encoded.subarray(0, length);
      tensor.type.encode(values, piece);
      await out.write(piece);
      written += length;
    }
    if (written !== bytes) {
      throw new Error(`${tensor.name}: ${written} bytes were written, ${bytes} are its size`);
    }
    await out.write(new Uint8Array(padding(bytes)));
  }
}

function requireStorable(values: Float32Array, tensor: GgufTensor): void {
  const { largest, name } = tensor.type;
  if (largest === Number.POSITIVE_INFINITY) return;
  for (let i = 0; i < values.length; i++) {
    if (Math.abs(values[i]!) > largest) throw tooLarge(tensor.name, values[i]!, name);
  }
}

function tooLarge(tensor: string, value: number, type: ElementType["name"]): SomnusError {
  return new SomnusError(
    "model_unavailable",
    `The model cannot be converted to ${type}: ${tensor} holds ${value}, which is too large for it. Take the type F32.`,
  );
}
