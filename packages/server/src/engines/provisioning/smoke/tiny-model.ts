/** The text that the tiny model answers with when it is asked for one token after `TINY_PROMPT`. */
export const TINY_ANSWER = "alive";

const TOKENS = ["<unk>", "<s>", "</s>", "<0x0A>", "\u2581", "are", "you", TINY_ANSWER] as const;

/** Prompt of the smoke test as token ids of the tiny model: "are you". */
export const TINY_PROMPT: readonly number[] = [5, 6];

/** Numbers of the GGUF format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */
const VALUE = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;
const TENSOR_F32 = 0;
const ALIGNMENT = 32;
const VERSION = 3;

/** Token classes of SentencePiece as llama.cpp counts them. */
const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
const BYTE = 6;

const WIDTH = 32;
const FEED_FORWARD = 32;

interface Tensor {
  name: string;
  /** Sizes, the fastest-moving dimension first. */
  shape: number[];
  values: Float32Array;
}

/**
 * A whole llama model in a few kilobytes: one layer whose weights are zero, so that a token's
 * embedding passes unchanged to the output row that it selects. After `TINY_PROMPT` the most likely
 * token is `TINY_ANSWER`, by a wide margin, on every machine that computes correctly.
 */
export function tinyModel(): Buffer {
  const vocabulary = TOKENS.length;
  const lastOfPrompt = TINY_PROMPT[TINY_PROMPT.length - 1] ?? 0;
  const embedding = new Float32Array(vocabulary * WIDTH);
  for (let token = 0; token < vocabulary; token += 1) embedding[token * WIDTH + token] = 1;
  const output = new Float32Array(vocabulary * WIDTH);
  output[TOKENS.indexOf(TINY_ANSWER) * WIDTH + lastOfPrompt] = 8;

  const norm = (name: string): Tensor => ({
    name,
    shape: [WIDTH],
    values: new Float32Array(WIDTH).fill(1),
  });
  const zero = (name: string, columns: number, rows: number): Tensor => ({
    name,
    shape: [columns, rows],
    values: new Float32Array(columns * rows),
  });
  const tensors: Tensor[] = [
    { name: "token_embd.weight", shape: [WIDTH, vocabulary], values: embedding },
    { name: "output.weight", shape: [WIDTH, vocabulary], values: output },
    norm("output_norm.weight"),
    norm("blk.0.attn_norm.weight"),
    zero("blk.0.attn_q.weight", WIDTH, WIDTH),
    zero("blk.0.attn_k.weight", WIDTH, WIDTH),
    zero("blk.0.attn_v.weight", WIDTH, WIDTH),
    zero("blk.0.attn_output.weight", WIDTH, WIDTH),
    norm("blk.0.ffn_norm.weight"),
    zero("blk.0.ffn_gate.weight", WIDTH, FEED_FORWARD),
    zero("blk.0.ffn_up.weight", WIDTH, FEED_FORWARD),
    zero("blk.0.ffn_down.weight", FEED_FORWARD, WIDTH),
  ];
  const metadata: Buffer[] = [
    entry("general.architecture", text("llama")),
    entry("llama.context_length", uint32(256)),
    entry("llama.embedding_length", uint32(WIDTH)),
    entry("llama.block_count", uint32(1)),
    entry("llama.feed_forward_length", uint32(FEED_FORWARD)),
    entry("llama.attention.head_count", uint32(1)),
    entry("llama.attention.head_count_kv", uint32(1)),
    entry("llama.attention.layer_norm_rms_epsilon", float32(1e-5)),
    entry("llama.rope.dimension_count", uint32(WIDTH)),
    entry("tokenizer.ggml.model", text("llama")),
    entry("tokenizer.ggml.tokens", list(TOKENS.map(text))),
    entry("tokenizer.ggml.scores", list(TOKENS.map((_, token) => float32(-token)))),
    entry("tokenizer.ggml.token_type", list(TOKENS.map((_, token) => int32(tokenClass(token))))),
    entry("tokenizer.ggml.bos_token_id", uint32(1)),
    entry("tokenizer.ggml.eos_token_id", uint32(2)),
    entry("tokenizer.ggml.unknown_token_id", uint32(0)),
    entry("tokenizer.ggml.add_bos_token", bool(false)),
  ];
  return file(metadata, tensors);
}

function tokenClass(token: number): number {
  if (token === 0) return UNKNOWN;
  if (token <= 2) return CONTROL;
  return token === 3 ? BYTE : NORMAL;
}

function file(metadata: Buffer[], tensors: Tensor[]): Buffer {
  let offset = 0;
  const infos: Buffer[] = [];
  const data: Buffer[] = [];
  for (const tensor of tensors) {
    infos.push(
      Buffer.concat([
        string(tensor.name),
        fourBytes(tensor.shape.length),
        ...tensor.shape.map(eightBytes),
        fourBytes(TENSOR_F32),
        eightBytes(offset),
      ]),
    );
    const bytes = floats(tensor.values);
    data.push(bytes, padding(bytes.length));
    offset += bytes.length + padding(bytes.length).length;
  }
  const head = Buffer.concat([
    Buffer.from("GGUF"),
    fourBytes(VERSION),
    eightBytes(tensors.length),
    eightBytes(metadata.length),
    ...metadata,
    ...infos,
  ]);
  return Buffer.concat([head, padding(head.length), ...data]);
}

/** One metadata value with the number of its type in front. */
interface Value {
  type: number;
  bytes: Buffer;
}

const uint32 = (value: number): Value => ({ type: VALUE.uint32, bytes: fourBytes(value) });
const int32 = (value: number): Value => ({ type: VALUE.int32, bytes: fourBytes(value) });
const bool = (value: boolean): Value => ({ type: VALUE.bool, bytes: Buffer.from([value ? 1 : 0]) });
const text = (value: string): Value => ({ type: VALUE.string, bytes: string(value) });

function float32(value: number): Value {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return { type: VALUE.float32, bytes };
}

function list(values: Value[]): Value {
  const bytes = [fourBytes(values[0]?.type ?? VALUE.uint32), eightBytes(values.length)];
  return { type: VALUE.array, bytes: Buffer.concat([...bytes, ...values.map((v) => v.bytes)]) };
}

function entry(key: string, value: Value): Buffer {
  return Buffer.concat([string(key), fourBytes(value.type), value.bytes]);
}

function string(value: string): Buffer {
  const bytes = Buffer.from(value, "utf8");
  return Buffer.concat([eightBytes(bytes.length), bytes]);
}

function fourBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function eightBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function floats(values: Float32Array): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => {
    bytes.writeFloatLE(value, index * 4);
  });
  return bytes;
}

function padding(length: number): Buffer {
  return Buffer.alloc((ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT);
}
