import { basename, dirname, isAbsolute, join } from "node:path";
import type { Logger } from "../../observe/index.js";
import type { BinaryOrigin, EngineBinary } from "./binary.js";
import { acceleratorOf, buildId } from "./build-id.js";
import { probe } from "./probe.js";
import { digestOf, markOf, type Receipt, readReceipt, sameMark, writeReceipt } from "./receipt.js";
import { smokeTest } from "./smoke/smoke-test.js";

/** A program that is to be accepted. */
export interface Candidate {
  path: string;
  origin: BinaryOrigin;
  /** Where its receipt is, or will be. */
  receiptFile: string;
  /** Name of the folder that both will be moved to; absent: they stay where they are. */
  movesTo?: string;
  builtAt?: string;
  madeWith?: NonNullable<Receipt["made_with"]>;
  release?: NonNullable<Receipt["release"]>;
}

/** What a program is tried with. */
export interface Trial {
  neededFlags: readonly string[];
  /** See `processorKey`. */
  processor: string;
  env: NodeJS.ProcessEnv;
  log: Logger;
}

export type Verdict =
  | {
      accepted: true;
      binary: EngineBinary;
      /** The system's error when its receipt could not be written. */
      unkept?: unknown;
    }
  | { accepted: false; reason: string };

/**
 * Accepts a program that knows the needed flags and answers the smoke test. A program that was
 * accepted before on this processor and is unchanged is accepted from its receipt, without being run.
 * A receipt that cannot be written costs the next start its speed, nothing else.
 * @throws the signal's reason when it fires
 */
export async function accept(
  candidate: Candidate,
  trial: Trial,
  signal: AbortSignal,
): Promise<Verdict> {
  const old = await readReceipt(candidate.receiptFile);
  const { path, origin } = candidate;
  if (old !== null && (await stillHolds(old, candidate, trial))) {
    return { accepted: true, binary: binaryOf(old, candidate) };
  }
  const sha256 = await digestOf(path, signal).catch(() => null);
  signal.throwIfAborted();
  if (sha256 === null) return { accepted: false, reason: "it cannot be read" };
  const isOurs = origin === "source" || origin === "release";
  if (isOurs && old !== null && old.sha256 !== sha256) {
    const made = origin === "source" ? "built" : "unpacked";
    return { accepted: false, reason: `it is not the program that was ${made} here` };
  }
  const said = await probe(candidate.path, trial.neededFlags, trial.env, signal);
  if (!said.usable) return { accepted: false, reason: said.reason };
  const failure = await smokeTest(candidate.path, trial.env, signal);
  if (failure !== null) return { accepted: false, reason: failure };

  const builtAt = candidate.builtAt ?? old?.built_at;
  const madeWith = candidate.madeWith ?? old?.made_with;
  const release = candidate.release ?? old?.release;
  const receipt: Receipt = {
    receipt_version: 1,
    program: programIn(candidate),
    origin,
    version: said.version,
    build: said.build,
    sha256,
    file: await markOf(path),
    processor: trial.processor,
    flags: [...trial.neededFlags],
    ...(builtAt === undefined ? {} : { built_at: builtAt }),
    ...(madeWith === undefined ? {} : { made_with: madeWith }),
    ...(release === undefined ? {} : { release }),
  };
  try {
    await writeReceipt(candidate.receiptFile, receipt);
  } catch (error) {
    trial.log.warn({ err: error, file: candidate.receiptFile }, "cannot keep the engine's receipt");
    return { accepted: true, binary: binaryOf(receipt, candidate), unkept: error };
  }
  return { accepted: true, binary: binaryOf(receipt, candidate) };
}

/** The program of a receipt when its file is unchanged since; null otherwise. */
export async function unchangedProgram(receiptFile: string): Promise<EngineBinary | null> {
  const receipt = await readReceipt(receiptFile);
  if (receipt === null) return null;
  const path = isAbsolute(receipt.program)
    ? receipt.program
    : join(dirname(receiptFile), receipt.program);
  const mark = await markOf(path).catch(() => null);
  if (mark === null || !sameMark(mark, receipt.file)) return null;
  return binaryOf(receipt, { path, receiptFile });
}

async function stillHolds(receipt: Receipt, candidate: Candidate, trial: Trial): Promise<boolean> {
  if (receipt.program !== programIn(candidate)) return false;
  if (receipt.processor !== trial.processor) return false;
  if (trial.neededFlags.some((flag) => !receipt.flags.includes(flag))) return false;
  const mark = await markOf(candidate.path).catch(() => null);
  return mark !== null && sameMark(mark, receipt.file);
}

/** A built program is moved together with its receipt, so the receipt must not name the folder. */
function programIn(candidate: Candidate): string {
  const folder = dirname(candidate.receiptFile);
  return dirname(candidate.path) === folder
    ? candidate.path.slice(folder.length + 1)
    : candidate.path;
}

/** A program as its receipt describes it. */
export function binaryOf(
  receipt: Receipt,
  { path, receiptFile, movesTo }: Pick<Candidate, "path" | "receiptFile" | "movesTo">,
): EngineBinary {
  const { origin } = receipt;
  const key = origin === "source" ? (movesTo ?? basename(dirname(receiptFile))) : path;
  const pinnedHere = (receipt.release?.files ?? [])
    .filter((file) => file.pinned_by === "first download")
    .map(({ file }) => file);
  return {
    id: buildId(receipt, key),
    path,
    version: receipt.version,
    build: receipt.build,
    digest: receipt.sha256,
    origin,
    accelerator: acceleratorOf(receipt),
    ...(receipt.built_at === undefined ? {} : { builtAt: receipt.built_at }),
    ...(pinnedHere.length === 0 ? {} : { pinnedHere }),
  };
}
