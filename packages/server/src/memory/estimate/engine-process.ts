import type { GgufSummary } from "../../gguf/index.js";

const MIB = 1024 * 1024;

/**
 * What a llama-server holds beside its buffers, by a fit: resident memory of build 11434 on Linux
 * (`/proc/PID/smaps_rollup`) less all buffers of its log, for four models with vocabularies of 30 to 262 thousand
 * tokens, contexts of 2 to 32 thousand and 1 to 4 slots. The fit misses those by at most 2 MiB.
 */
const PROGRAM = 8.5 * MIB;
const HEAP = 3.5 * MIB;
const PER_TOKEN = 171;
const PER_MERGE = 156;
const PER_CELL = 40;
const PER_SLOT = 0.1 * MIB;

/** Bytes that an engine process holds on the host beside weights, KV and workspace. */
export function processBytes(gguf: GgufSummary, cells: number, slots: number): number {
  return Math.round(
    PROGRAM +
      HEAP +
      PER_TOKEN * (gguf.vocabularySize ?? 0) +
      PER_MERGE * (gguf.vocabularyMerges ?? 0) +
      PER_CELL * cells +
      PER_SLOT * slots,
  );
}

/**
 * Bytes that a process takes of a device beside buffers: the driver's context and its kernels. No device was there
 * to measure it: the usual figure of a CUDA context, corrected by the first load.
 */
export const DEVICE_CONTEXT = 400 * MIB;
