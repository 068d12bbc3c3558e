import { mkdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import {
  freeBytes,
  holderText,
  isDiskFull,
  storageAdvice,
  withLock,
} from "../../artifacts/index.js";
import { SomnusError } from "../../http/errors.js";
import type { OnProgress } from "../../observe/index.js";
import type { About, Converter, InputFiles, Prepared } from "./converter.js";
import { converterOf } from "./converters.js";
import { createDraft, type Draft, removeDrafts } from "./draft.js";
import { filesOf } from "./files-of.js";

/** What to convert and where to. */
export interface ConversionRequest {
  /** A converter or its id. */
  converter: Converter | string;
  /** The model's folder; not needed where `files` says where each input lies. */
  folder?: string | undefined;
  /** By the names of the converter's `files`. */
  files?: InputFiles | undefined;
  /** Path of the file to make; what stands there is replaced. */
  out: string;
  /** One of the converter's `types`; the first of them when absent. */
  type?: string | undefined;
  about?: About | undefined;
  /** What the output must be; another one is refused, and nothing is stored. */
  expected?: { size: number; sha256: string } | undefined;
  /** Bytes of the output. */
  on: OnProgress;
  signal: AbortSignal;
}

/** A file that was made, checked and stored. */
export interface Conversion {
  /** Absolute. */
  path: string;
  converter: string;
  type: string;
  /** "bert". */
  architecture: string;
  size: number;
  /** Lower-case hex. */
  sha256: string;
  /** What to know about the output, for people; whole sentences. */
  notes: readonly string[];
}

/**
 * Converts a model. The output is written beside its place, read back, brought to the disk and only
 * then renamed, so that at any moment the old file or the new one stands there, whole. Two processes
 * that make the same file do it one after the other; what a killed one left behind is removed.
 *
 * @throws SomnusError `invalid_request` for an unknown converter or type; `model_unavailable` when the
 *   inputs are missing, damaged or of an unsupported kind, or when the output cannot be stored
 * @throws the signal's reason when it is aborted; nothing half-done is left then
 */
export async function convert(request: ConversionRequest): Promise<Conversion> {
  const { signal } = request;
  signal.throwIfAborted();
  const converter =
    typeof request.converter === "string" ? converterOf(request.converter) : request.converter;
  const type = typeOf(converter, request.type);
  const path = resolve(request.out);
  const files = request.files ?? (await filesOf(request.folder, converter));
  requireOtherPlace(path, files);
  const prepared = await converter.prepare(files, { type, about: request.about ?? {} }, signal);
  try {
    const sha256 = await stored(path, prepared, request);
    const { architecture, size, notes } = prepared;
    return { path, converter: converter.id, type, architecture, size, sha256, notes };
  } catch (error) {
    signal.throwIfAborted();
    throw storingFailure(error, path, prepared.size);
  } finally {
    await prepared.close();
  }
}

/** Writes, checks and names the file; gives its SHA-256. */
async function stored(
  path: string,
  prepared: Prepared,
  { on, signal, expected }: ConversionRequest,
): Promise<string> {
  const file = basename(path);
  const report = (step: string, done: number) =>
    on({ step, file, done, total: prepared.size, unit: "bytes" });
  await mkdir(dirname(path), { recursive: true });
  const onWait = (holder: { pid: number } | null) =>
    report(`waiting for ${holderText(holder)} to make ${file}`, 0);
  const lock = join(dirname(path), `.${file}.converting`);
  return await withLock(lock, { signal, onWait }, async () => {
    await removeDrafts(path);
    requireSize(path, prepared.size, expected);
    await requireRoom(path, prepared.size);
    const step = `converting ${file}`;
    report(step, 0);
    const draft = await createDraft(path, signal, (done) => report(step, done));
    try {
      await prepared.write(draft, signal);
      const sha256 = await draft.seal();
      await checked(prepared, draft, signal);
      if (expected !== undefined && sha256 !== expected.sha256) {
        throw unexpected(path, `SHA-256 ${sha256} instead of ${expected.sha256}`);
      }
      signal.throwIfAborted();
      await draft.publish();
      return sha256;
    } finally {
      await draft.discard();
    }
  });
}

async function checked(prepared: Prepared, draft: Draft, signal: AbortSignal): Promise<void> {
  if (draft.written !== prepared.size) {
    throw new SomnusError(
      "internal",
      `The conversion made ${draft.written} bytes where ${prepared.size} were announced.`,
    );
  }
  await prepared.check(draft.path, signal);
}

function typeOf(converter: Converter, wanted: string | undefined): string {
  const type = wanted ?? converter.types[0]!;
  if (converter.types.includes(type)) return type;
  throw new SomnusError(
    "invalid_request",
    `${converter.id} cannot make ${JSON.stringify(type)}; it makes ${converter.types.join(", ")}.`,
    { param: "type" },
  );
}

function requireOtherPlace(path: string, files: InputFiles): void {
  for (const [name, input] of files) {
    if (resolve(input) !== path) continue;
    throw new SomnusError(
      "invalid_request",
      `The output would replace its own input ${name}; choose another place for it.`,
      { param: "out" },
    );
  }
}

function requireSize(path: string, size: number, expected: ConversionRequest["expected"]): void {
  if (expected === undefined || expected.size === size) return;
  throw unexpected(path, `${size} bytes instead of ${expected.size}`);
}

function unexpected(path: string, difference: string): SomnusError {
  return new SomnusError(
    "model_unavailable",
    `The conversion to ${basename(path)} gives another file than expected: ${difference}. The inputs are another version of the model, or the catalog is older than this server.`,
  );
}

async function requireRoom(path: string, size: number): Promise<void> {
  const free = await freeBytes(dirname(path));
  if (free < size) throw noRoom(path, size, `${free} are free`);
}

function noRoom(path: string, size: number, found: string, cause?: unknown): SomnusError {
  return new SomnusError(
    "model_unavailable",
    `${basename(path)} needs ${size} bytes of disk space in ${dirname(path)}, but ${found}. Free some, or choose another folder.`,
    { cause },
  );
}

function storingFailure(error: unknown, path: string, size: number): unknown {
  if (error instanceof SomnusError) return error;
  if (isDiskFull(error)) return noRoom(path, size, "no space is left", error);
  const reason = error instanceof Error ? error.message : String(error);
  return new SomnusError(
    "model_unavailable",
    `${basename(path)} cannot be stored in ${dirname(path)}: ${reason}. ${storageAdvice(error)}`,
    { cause: error },
  );
}
