/** A tensor to store: its bytes as they shall stand. */
export interface TensorSource {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  readonly data: Uint8Array;
}

/** A tensor of 32-bit floats. */
export function floats(name: string, shape: readonly number[], values: Float32Array): TensorSource {
  const data = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { name, type: "F32", shape, data };
}

/** A safetensors file of these tensors, one behind the other. */
export function encodeSafetensors(tensors: readonly TensorSource[]): Buffer {
  let at = 0;
  const header = Object.fromEntries(
    tensors.map(({ name, type, shape, data }) => {
      const begin = at;
      at += data.length;
      return [name, { dtype: type, shape, data_offsets: [begin, at] }];
    }),
  );
  return withHeader(
    JSON.stringify({ __metadata__: { format: "pt" }, ...header }),
    ...tensors.map(({ data }) => data),
  );
}

/** A file with this text as its header, of its true length. */
export function withHeader(header: string, ...data: readonly Uint8Array[]): Buffer {
  const text = Buffer.from(header, "utf8");
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...data]);
}
