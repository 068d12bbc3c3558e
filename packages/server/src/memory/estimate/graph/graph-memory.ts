/** One tensor of a compute graph; made by `Graph`. */
export interface Tensor {
  readonly bytes: number;
  /** The tensors that it is computed from; empty for an input. */
  readonly from: readonly Tensor[];
  /** May take the place of one that it is computed from. */
  readonly inPlace: boolean;
  /** Something outside reads it after the computation. */
  readonly kept: boolean;
}

/** `TENSOR_ALIGNMENT` of ggml-backend-impl.h for host memory. */
const HOST_ALIGNMENT = 32;

/** A compute graph, as far as its memory goes: tensors in the order in which they are computed. */
export class Graph {
  readonly #inputs: Tensor[] = [];
  readonly #nodes: Tensor[] = [];

  /** A tensor that is filled before the computation begins. */
  input(bytes: number): Tensor {
    return push(this.#inputs, { bytes, from: [], inPlace: false, kept: false });
  }

  /** A tensor with memory of its own. */
  compute(bytes: number, from: readonly Tensor[], kept = false): Tensor {
    return push(this.#nodes, { bytes, from, inPlace: false, kept });
  }

  /** A tensor that overwrites one of `from` of the same size, when nothing else needs that one any more. */
  overwrite(bytes: number, from: readonly Tensor[]): Tensor {
    return push(this.#nodes, { bytes, from, inPlace: true, kept: false });
  }

  /** A use that makes no tensor: a store into the KV memory. */
  use(from: readonly Tensor[]): void {
    this.compute(0, from);
  }

  /** Bytes of the inputs alone. */
  inputBytes(): number {
    return this.#inputs.reduce((sum, { bytes }) => sum + aligned(bytes, HOST_ALIGNMENT), 0);
  }

  /**
   * Bytes of the one buffer that all tensors get places in, by ggml-alloc.c: inputs first, each tensor in the
   * smallest free block that holds it, freed after its last use (`ggml_gallocr_alloc_graph_impl`,
   * `ggml_gallocr_allocate_node`, `ggml_dyn_tallocr_alloc`, `ggml_dyn_tallocr_free_bytes`).
   */
  bufferBytes(alignment = HOST_ALIGNMENT): number {
    const space = new Space(alignment);
    const uses = new Map<Tensor, number>();
    for (const { from } of this.#nodes) {
      for (const tensor of from) uses.set(tensor, (uses.get(tensor) ?? 0) + 1);
    }
    const places = new Map<Tensor, number>();
    for (const tensor of this.#inputs) places.set(tensor, space.take(tensor.bytes));
    for (const node of this.#nodes) {
      const parent = node.inPlace ? overwritten(node, uses, places) : undefined;
      if (parent === undefined) {
        if (node.bytes > 0) places.set(node, space.take(node.bytes));
      } else {
        places.set(node, places.get(parent)!);
        places.delete(parent);
      }
      for (const tensor of node.from) {
        const left = uses.get(tensor)! - 1;
        uses.set(tensor, left);
        const place = places.get(tensor);
        if (left > 0 || place === undefined || tensor.kept) continue;
        space.give(place, tensor.bytes);
        places.delete(tensor);
      }
    }
    return space.most;
  }
}

function push(list: Tensor[], tensor: Tensor): Tensor {
  list.push(tensor);
  return tensor;
}

function overwritten(
  node: Tensor,
  uses: ReadonlyMap<Tensor, number>,
  places: ReadonlyMap<Tensor, number>,
): Tensor | undefined {
  return node.from.find(
    (tensor) =>
      tensor.bytes === node.bytes && !tensor.kept && uses.get(tensor) === 1 && places.has(tensor),
  );
}

function aligned(bytes: number, alignment: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

/** An endless row of bytes, in which pieces are taken and given back. */
class Space {
  readonly #alignment: number;
  /** In order; the last one has no end. */
  readonly #free: { at: number; bytes: number }[] = [{ at: 0, bytes: Number.POSITIVE_INFINITY }];
  /** The end of the furthest piece so far. */
  most = 0;

  constructor(alignment: number) {
    this.#alignment = alignment;
  }

  take(wanted: number): number {
    const bytes = aligned(wanted, this.#alignment);
    let best = this.#free.length - 1;
    for (const [index, block] of this.#free.slice(0, -1).entries()) {
      const bestBytes =
        best === this.#free.length - 1 ? Number.POSITIVE_INFINITY : this.#free[best]!.bytes;
      if (block.bytes >= bytes && block.bytes <= bestBytes) best = index;
    }
    const block = this.#free[best]!;
    const { at } = block;
    block.at += bytes;
    block.bytes -= bytes;
    if (block.bytes === 0) this.#free.splice(best, 1);
    this.most = Math.max(this.most, at + bytes);
    return at;
  }

  give(at: number, given: number): void {
    const bytes = aligned(given, this.#alignment);
    let index = this.#free.findIndex((block) => block.at > at);
    const before = this.#free[index - 1];
    if (before !== undefined && before.at + before.bytes === at) {
      before.bytes += bytes;
      index -= 1;
    } else {
      this.#free.splice(index, 0, { at, bytes });
    }
    const block = this.#free[index]!;
    const after = this.#free[index + 1];
    if (after !== undefined && block.at + block.bytes === after.at) {
      block.bytes += after.bytes;
      this.#free.splice(index + 1, 1);
    }
  }
}
