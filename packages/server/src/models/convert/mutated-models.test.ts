import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { randomFrom } from "../../../test/gguf/index.js";
import { SomnusError } from "../../http/errors.js";
import { bytesOf, convertFolder, writeModel } from "./__fixtures__/model-folder.js";
import { tinyBert } from "./__fixtures__/tiny-bert.js";

const MUTATIONS = 2000;
const SLOWEST_MS = 500;
const MOST_MEMORY_BYTES = 200 * 1024 * 1024;

type Random = () => number;
type Files = Map<string, Buffer>;

const pick = <T>(values: readonly T[], random: Random): T =>
  values[Math.floor(random() * values.length)]!;
const below = (limit: number, random: Random): number => Math.floor(random() * limit);

const WEIGHTS = "model.safetensors";
const originals: ReadonlyMap<string, Buffer> = new Map(
  Object.entries(tinyBert()).map(([name, value]) => [name, Buffer.from(bytesOf(value))]),
);
const headerBytes = 8 + Number(originals.get(WEIGHTS)!.readBigUInt64LE(0));

/** The part of a file that means something beyond single weights. */
const structureOf = (name: string, bytes: Buffer) =>
  name === WEIGHTS ? Math.min(headerBytes, bytes.length) : bytes.length;

const flipBits = (files: Files, name: string, random: Random) => {
  const bytes = files.get(name)!;
  const limit = random() < 0.8 ? structureOf(name, bytes) : bytes.length;
  for (let count = 1 + below(6, random); count > 0; count--) {
    bytes[below(limit, random)]! ^= 1 << below(8, random);
  }
};

const cut = (files: Files, name: string, random: Random) => {
  const bytes = files.get(name)!;
  files.set(name, bytes.subarray(0, below(bytes.length, random)));
};

const grow = (files: Files, name: string, random: Random) => {
  files.set(name, Buffer.concat([files.get(name)!, Buffer.alloc(1 + below(5000, random), 0x20)]));
};

const remove = (files: Files, name: string) => {
  files.delete(name);
};

const exchange = (files: Files, name: string, random: Random) => {
  files.set(name, Buffer.from(pick([...files.values()], random)));
};

const headerLength = (files: Files, _: string, random: Random) => {
  const lengths = [0n, 1n, 2n ** 20n, 2n ** 32n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n];
  const near = BigInt(headerBytes - 8 + below(64, random) - 32);
  files.get(WEIGHTS)!.writeBigUInt64LE(random() < 0.5 ? near : pick(lengths, random));
};

const STRANGE = [
  "0",
  "-1",
  "1",
  "4294967296",
  "9007199254740993",
  "1e308",
  "null",
  "[]",
  "{}",
  '"x"',
];

/** Puts something else in the place of a number, a text or a keyword. */
const otherToken = (files: Files, name: string, random: Random) => {
  const bytes = files.get(name)!;
  const limit = structureOf(name, bytes);
  const text = bytes.toString("latin1", 0, limit);
  const tokens = [...text.matchAll(/-?\d[\d.e+-]*|true|false|null|"[^"\n]*"/g)];
  const token = tokens.length > 0 ? pick(tokens, random) : undefined;
  if (token === undefined) return;
  const other = random() < 0.5 ? pick(STRANGE, random) : pick(tokens, random)[0];
  const changed = text.slice(0, token.index) + other + text.slice(token.index + token[0].length);
  const head = Buffer.from(changed, "latin1");
  if (name === WEIGHTS) head.writeBigUInt64LE(BigInt(head.length - 8));
  files.set(name, Buffer.concat([head, bytes.subarray(limit)]));
};

const MUTATORS = [flipBits, cut, grow, remove, exchange, headerLength, otherToken, otherToken];

function mutated(seed: number): Files {
  const random = randomFrom(seed);
  const files = new Map([...originals].map(([name, bytes]) => [name, Buffer.from(bytes)] as const));
  for (let count = random() < 0.7 ? 1 : 3; count > 0; count--) {
    const name = random() < 0.4 && files.has(WEIGHTS) ? WEIGHTS : pick([...files.keys()], random);
    const mutate = pick(MUTATORS, random);
    if (mutate === headerLength && (files.get(WEIGHTS)?.length ?? 0) < 8) continue;
    mutate(files, name, random);
    if ((files.get(name)?.length ?? 1) === 0) break;
  }
  return files;
}

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "somnus-mutated-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** What became of one conversion, and the time of the faster of two where the first was slow. */
async function outcomeOf(folder: string, out: string, type: string) {
  const first = await convertOnce(folder, out, type);
  // The machine may have been busy with something else.
  return first.ms < SLOWEST_MS ? first : convertOnce(folder, out, type);
}

async function convertOnce(folder: string, out: string, type: string) {
  const start = performance.now();
  const error = await convertFolder(folder, out, { type }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { error, ms: performance.now() - start };
}

test("a mutated model is converted or refused, quickly and in little memory", {
  timeout: 180_000,
}, async () => {
  const folder = join(root, "model");
  await writeModel(folder, Object.fromEntries(originals));
  const place = join(root, "out");
  const out = join(place, "model.gguf");
  const memoryBefore = process.memoryUsage().rss;
  let refused = 0;
  for (let seed = 0; seed < MUTATIONS; seed++) {
    const files = mutated(seed);
    const touched = [...originals].filter(([name, bytes]) => !files.get(name)?.equals(bytes));
    for (const [name] of touched) await rm(join(folder, name));
    await writeModel(folder, Object.fromEntries(touched.map(([name]) => [name, files.get(name)])));
    const type = ["F16", "Q8_0", "F32"][seed % 3]!;
    const { error, ms } = await outcomeOf(folder, out, type);
    if (error !== null) {
      refused++;
      if (!(error instanceof SomnusError)) throw new Error(`seed ${seed}`, { cause: error });
      expect(error.code, `seed ${seed}`).toBe("model_unavailable");
      expect(error.message.length, `seed ${seed}`).toBeLessThan(500);
    }
    expect(ms, `seed ${seed}`).toBeLessThan(SLOWEST_MS);
    await writeModel(folder, Object.fromEntries(touched));
  }
  expect(await readdir(place)).toEqual(["model.gguf"]);
  expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(MOST_MEMORY_BYTES);
  expect(refused).toBeGreaterThan(MUTATIONS / 2);
  expect(refused).toBeLessThan(MUTATIONS);
});
