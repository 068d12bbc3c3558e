import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import { SystemFiles } from "../../../processes/index.js";
import type { Bandwidths, Machine } from "../../machine.js";
import { diskIdentity } from "./disk-identity.js";
import { diskBytesPerSecond } from "./disk-speed.js";
import { type KeptBandwidths, readKept, writeKept } from "./kept-bandwidths.js";
import { largestFile } from "./largest-file.js";
import { memoryBytesPerSecond } from "./memory-speed.js";

export interface ProbeOptions {
  machine: Pick<Machine, "processor" | "host">;
  /** The models' folder: its disk is measured, on the largest file in it. Nothing is written there. */
  folder: string;
  /** `paths.cache_dir`: where the result is kept. */
  cacheDir: string;
  signal: AbortSignal;
  /** Hears that the result cannot be kept. */
  onFailure?: (error: unknown) => void;
  files?: SystemFiles;
  /** What measures; for tests. */
  measure?: {
    disk(path: string, signal: AbortSignal): Promise<number | null>;
    memory(availableBytes: number | null, signal: AbortSignal): Promise<number | null>;
  };
}

const MiB = 2 ** 20;
/** A smaller file is read too soon to tell anything. */
const LEAST_FILE = 64 * MiB;
const MEASURE = { disk: diskBytesPerSecond, memory: memoryBytesPerSecond };

/**
 * The speeds of disk and memory: as kept from an earlier time on this machine and disk, and measured
 * where they are not. Takes a second or two then; run it in the background. What could not be measured
 * (no model on the disk yet, a page cache that cannot be bypassed) is null and tried again next time.
 * Into a device only an engine can copy, so `hostToDevice` is null.
 * @throws the signal's reason when it fires
 */
export async function probeBandwidths(options: ProbeOptions): Promise<Bandwidths> {
  const { folder, signal, machine, onFailure, measure = MEASURE } = options;
  const { file, key, kept } = await lookUp(options);
  const available = machine.host.availableBytes;
  const host = kept?.host ?? (await measure.memory(available, signal));
  signal.throwIfAborted();
  const model = kept?.diskToHost ? null : await largestFile(folder, LEAST_FILE);
  const diskToHost =
    kept?.diskToHost ?? (model === null ? null : await measure.disk(model, signal));
  signal.throwIfAborted();
  if (host !== (kept?.host ?? null) || diskToHost !== (kept?.diskToHost ?? null)) {
    const measured = { diskToHost, host, measuredAt: Date.now() };
    await writeKept(file, key, measured).catch((error) => onFailure?.(error));
  }
  return { diskToHost, hostToDevice: null, host };
}

/** What is kept of this machine and disk, without measuring anything. */
export async function keptBandwidths(
  options: Pick<ProbeOptions, "machine" | "folder" | "cacheDir" | "files">,
): Promise<Bandwidths> {
  const { kept } = await lookUp(options);
  return { diskToHost: kept?.diskToHost ?? null, hostToDevice: null, host: kept?.host ?? null };
}

async function lookUp({
  machine,
  folder,
  cacheDir,
  files = new SystemFiles(),
}: Pick<ProbeOptions, "machine" | "folder" | "cacheDir" | "files">): Promise<{
  file: string;
  key: string;
  kept: KeptBandwidths | null;
}> {
  const file = join(cacheDir, "hardware", "bandwidths.json");
  const facts = [
    hostname(),
    machine.processor.model,
    // Kernels differ in a few MiB of what they keep to themselves.
    Math.round(machine.host.totalBytes / (256 * MiB)),
    await diskIdentity(folder, files),
  ];
  const key = createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 16);
  return { file, key, kept: await readKept(file, key) };
}
