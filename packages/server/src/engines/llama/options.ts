import type { Config } from "../../config/index.js";
import type { Logger } from "../../observe/index.js";
import type { ExitReason } from "../engine.js";

export interface LlamaOptions {
  /** The llama-server to run; asked at every load, so that a new one is taken without a restart. */
  binary: () => Promise<{ path: string; version: string; digest?: string }>;
  /** Hears how engines fare, by their program's path. Must not throw. */
  watch?: {
    ready(path: string): void;
    ended(path: string, exit: ExitReason, phase: "load" | "run"): void;
  };
  /** Compute threads; absent: by the machine's physical performance cores. */
  threads?: number;
  /** What a compute thread does between its pieces of work; "passive" is kind to neighbours. */
  waitPolicy?: "brief" | "passive";
  /** Folder for sockets, of this user only. */
  runtimeDir: string;
  /** Silence allowed while a request runs, ms. */
  stallMs: number;
  loadTimeoutMs: number;
  log: Logger;
  /** Absent: a Unix socket where the system has them. */
  addressKind?: "socket" | "loopback";
}

/** What the configuration says of how engines run. */
export function configuredRun({
  engines: { llama },
  limits,
}: Pick<Config, "engines" | "limits">): Pick<
  LlamaOptions,
  "stallMs" | "loadTimeoutMs" | "waitPolicy" | "threads"
> {
  return {
    stallMs: limits.engine_timeout_secs * 1_000,
    loadTimeoutMs: limits.load_timeout_secs * 1_000,
    waitPolicy: llama.wait_policy,
    ...(llama.threads === undefined ? {} : { threads: llama.threads }),
  };
}
