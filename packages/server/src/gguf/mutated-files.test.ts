import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  encodeGguf,
  randomFrom,
  tinyBert,
  tinyLlama,
  tinyMoe,
  tinyProjector,
} from "../../test/gguf/index.js";
import { SomnusError } from "../http/errors.js";
import { readGguf } from "./index.js";

const MUTATIONS = 2000;
const SLOWEST_MS = 250;
const MOST_MEMORY_BYTES = 128 * 1024 * 1024;
/** Enough for the list of tensors of each tiny model, which lies behind the metadata. */
const TENSOR_LIST_BYTES = 1024;

type Random = () => number;

interface Original {
  readonly bytes: Buffer;
  readonly headerBytes: number;
}

const originals: Original[] = [tinyLlama, tinyMoe, tinyBert, tinyProjector].map((make) => {
  const source = make();
  const withoutTensors = encodeGguf({ ...source, tensors: [] });
  return { bytes: encodeGguf(source), headerBytes: withoutTensors.length + TENSOR_LIST_BYTES };
});

const HUGE_LENGTHS = [
  0xffff_ffff_ffff_ffffn,
  0x7fff_ffff_ffff_ffffn,
  1n << 53n,
  1n << 32n,
  1n << 20n,
];

const pick = <T>(values: readonly T[], random: Random): T =>
  values[Math.floor(random() * values.length)]!;

const flips = ({ bytes, headerBytes }: Original, random: Random): Buffer => {
  const copy = Buffer.from(bytes);
  for (let count = 1 + Math.floor(random() * 8); count > 0; count--) {
    copy[Math.floor(random() * headerBytes)]! ^= 1 << Math.floor(random() * 8);
  }
  return copy;
};

const cut = ({ bytes, headerBytes }: Original, random: Random): Buffer =>
  bytes.subarray(0, Math.floor(random() * (random() < 0.7 ? headerBytes : bytes.length)));

const hugeLength = ({ bytes, headerBytes }: Original, random: Random): Buffer => {
  const copy = Buffer.from(bytes);
  copy.writeBigUInt64LE(pick(HUGE_LENGTHS, random), Math.floor(random() * headerBytes));
  return copy;
};

const hugeCount = ({ bytes }: Original, random: Random): Buffer => {
  const copy = Buffer.from(bytes);
  copy.writeBigUInt64LE(BigInt(Math.floor(random() * 100_000)), random() < 0.5 ? 8 : 16);
  return copy;
};

const shuffled = ({ bytes, headerBytes }: Original, random: Random): Buffer => {
  const copy = Buffer.from(bytes);
  const length = 1 + Math.floor(random() * 200);
  const from = Math.floor(random() * (headerBytes - length));
  bytes.copy(copy, Math.floor(random() * (headerBytes - length)), from, from + length);
  return copy;
};

const MUTATORS = [flips, cut, hugeLength, hugeCount, shuffled];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "somnus-gguf-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What became of one read, and the time of the faster of two reads where the first was slow. */
async function outcomeOf(path: string): Promise<{ error: unknown; ms: number }> {
  const first = await readOnce(path);
  // The machine may have been busy with something else.
  return first.ms < SLOWEST_MS ? first : readOnce(path);
}

async function readOnce(path: string): Promise<{ error: unknown; ms: number }> {
  const start = performance.now();
  const error = await readGguf(path).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { error, ms: performance.now() - start };
}

test("a mutated file is read or refused, quickly and in little memory", {
  timeout: 120_000,
}, async () => {
  const path = join(folder, "mutated.gguf");
  const file = await open(path, "w");
  const memoryBefore = process.memoryUsage().rss;
  let refused = 0;
  try {
    for (let seed = 0; seed < MUTATIONS; seed++) {
      const random = randomFrom(seed);
      const content = pick(MUTATORS, random)(pick(originals, random), random);
      await file.truncate(content.length);
      await file.write(content, 0, content.length, 0);
      const { error, ms } = await outcomeOf(path);
      if (error !== null) {
        refused++;
        if (!(error instanceof SomnusError)) throw new Error(`seed ${seed}`, { cause: error });
        expect(error.message.length, `seed ${seed}`).toBeLessThan(500);
      }
      expect(ms, `seed ${seed}`).toBeLessThan(SLOWEST_MS);
    }
  } finally {
    await file.close();
  }
  expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(MOST_MEMORY_BYTES);
  expect(refused).toBeGreaterThan(MUTATIONS / 2);
});
