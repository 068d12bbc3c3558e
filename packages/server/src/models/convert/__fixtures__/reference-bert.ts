import { readFile } from "node:fs/promises";

/** What of a checkpoint's config.json the reference needs. */
interface Config {
  hidden_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  layer_norm_eps: number;
}

/** Row by row, one token a row. */
type Rows = Float64Array[];

/**
 * The forward pass of BERT (Devlin et al., 2018) in 64-bit floats, straight from a checkpoint's files:
 * slow, short, and with no code of the converter or of the engine.
 */
export class ReferenceBert {
  readonly #config: Config;
  readonly #weights: Buffer;
  readonly #header: Record<string, { data_offsets: [number, number] }>;
  readonly #dataStart: number;
  readonly #vocabulary: Map<string, number>;
  readonly #tensors = new Map<string, Float32Array>();

  private constructor(config: Config, weights: Buffer, vocabulary: string) {
    this.#config = config;
    this.#weights = weights;
    this.#dataStart = 8 + Number(weights.readBigUInt64LE(0));
    this.#header = JSON.parse(weights.toString("utf8", 8, this.#dataStart));
    this.#vocabulary = new Map(vocabulary.split("\n").map((word, id) => [word, id] as const));
  }

  /** Reads config.json, model.safetensors with 32-bit floats, and vocab.txt. */
  static async read(paths: { config: string; weights: string; vocabulary: string }) {
    return new ReferenceBert(
      JSON.parse(await readFile(paths.config, "utf8")),
      await readFile(paths.weights),
      await readFile(paths.vocabulary, "utf8"),
    );
  }

  /** The ids of a text of plain words and punctuation, the longest known piece first (WordPiece). */
  tokenize(text: string): number[] {
    const ids = [this.#idOf("[CLS]")];
    for (const word of text.toLowerCase().match(/[a-z0-9]+|[^a-z0-9\s]/g) ?? []) {
      for (let at = 0; at < word.length; ) {
        const mark = at === 0 ? "" : "##";
        let end = word.length;
        while (end > at && !this.#vocabulary.has(mark + word.slice(at, end))) end--;
        if (end === at) throw new Error(`no piece for ${word}`);
        ids.push(this.#idOf(mark + word.slice(at, end)));
        at = end;
      }
    }
    return [...ids, this.#idOf("[SEP]")];
  }

  /** The last layer's vectors pooled to one of length 1: their mean, or the first. */
  embed(ids: readonly number[], pooling: "mean" | "cls" = "mean"): Float64Array {
    let rows = this.#embeddings(ids);
    for (let layer = 0; layer < this.#config.num_hidden_layers; layer++) {
      rows = this.#layer(rows, `encoder.layer.${layer}`);
    }
    const pooled = new Float64Array(this.#config.hidden_size);
    for (const row of pooling === "mean" ? rows : rows.slice(0, 1)) add(pooled, row);
    const length = Math.hypot(...pooled);
    return pooled.map((value) => value / length);
  }

  #embeddings(ids: readonly number[]): Rows {
    const words = this.#tensor("embeddings.word_embeddings.weight");
    const positions = this.#tensor("embeddings.position_embeddings.weight");
    const types = this.#tensor("embeddings.token_type_embeddings.weight");
    const size = this.#config.hidden_size;
    const rows = ids.map((id, position) => {
      const row = Float64Array.from(words.subarray(id * size, (id + 1) * size));
      add(row, positions.subarray(position * size, (position + 1) * size));
      add(row, types.subarray(0, size));
      return row;
    });
    return this.#norm(rows, "embeddings.LayerNorm");
  }

  #layer(rows: Rows, at: string): Rows {
    const attended = this.#linear(this.#attention(rows, at), `${at}.attention.output.dense`);
    const middle = this.#norm(sums(attended, rows), `${at}.attention.output.LayerNorm`);
    const wide = this.#linear(middle, `${at}.intermediate.dense`).map((row) => row.map(gelu));
    const narrow = this.#linear(wide, `${at}.output.dense`);
    return this.#norm(sums(narrow, middle), `${at}.output.LayerNorm`);
  }

  #attention(rows: Rows, at: string): Rows {
    const [query, key, value] = ["query", "key", "value"].map((part) =>
      this.#linear(rows, `${at}.attention.self.${part}`),
    ) as [Rows, Rows, Rows];
    const heads = this.#config.num_attention_heads;
    const size = this.#config.hidden_size / heads;
    const result = rows.map((row) => new Float64Array(row.length));
    for (let head = 0; head < heads; head++) {
      const from = head * size;
      for (const [i, q] of query.entries()) {
        const scores = softmax(key.map((k) => dot(q, k, from, from + size) / Math.sqrt(size)));
        for (const [j, v] of value.entries()) {
          for (let e = from; e < from + size; e++) result[i]![e]! += scores[j]! * v[e]!;
        }
      }
    }
    return result;
  }

  #linear(rows: Rows, name: string): Rows {
    const weight = this.#tensor(`${name}.weight`);
    const bias = this.#tensor(`${name}.bias`);
    const result = rows.map(() => Float64Array.from(bias));
    for (let output = 0; output < bias.length; output++) {
      const offset = output * rows[0]!.length;
      for (const [at, row] of rows.entries()) {
        let sum = 0;
        for (let i = 0; i < row.length; i++) sum += weight[offset + i]! * row[i]!;
        result[at]![output]! += sum;
      }
    }
    return result;
  }

  #norm(rows: Rows, name: string): Rows {
    const weight = this.#tensor(`${name}.weight`);
    const bias = this.#tensor(`${name}.bias`);
    return rows.map((row) => {
      const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
      const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length;
      const scale = 1 / Math.sqrt(variance + this.#config.layer_norm_eps);
      return row.map((value, i) => (value - mean) * scale * weight[i]! + bias[i]!);
    });
  }

  #tensor(name: string): Float32Array {
    const known = this.#tensors.get(name);
    if (known) return known;
    const [begin, end] = this.#header[name]!.data_offsets;
    const start = this.#weights.byteOffset + this.#dataStart;
    // A copy, because the data may begin at any byte.
    const bytes = this.#weights.buffer.slice(start + begin, start + end) as ArrayBuffer;
    const tensor = new Float32Array(bytes);
    this.#tensors.set(name, tensor);
    return tensor;
  }

  #idOf(token: string): number {
    return this.#vocabulary.get(token)!;
  }
}

/** Cosine of the angle between two vectors. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const of = (x: ArrayLike<number>, y: ArrayLike<number>) => dot(x, y, 0, a.length);
  return of(a, b) / Math.sqrt(of(a, a) * of(b, b));
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>, from: number, to: number): number {
  let sum = 0;
  for (let i = from; i < to; i++) sum += a[i]! * b[i]!;
  return sum;
}

function add(to: Float64Array, more: ArrayLike<number>): void {
  for (let i = 0; i < to.length; i++) to[i]! += more[i]!;
}

function sums(a: Rows, b: Rows): Rows {
  return a.map((row, i) => row.map((value, e) => value + b[i]![e]!));
}

function softmax(scores: readonly number[]): number[] {
  const largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

function gelu(x: number): number {
  return 0.5 * x * (1 + erf(x / Math.SQRT2));
}

/** The error function, within 1.5e-7: formula 7.1.26 of Abramowitz and Stegun. */
function erf(x: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const series =
    t *
    (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(x) * (1 - series * Math.exp(-x * x));
}
