import type { Artifacts } from "../../artifacts/index.js";
import type { Logger, OnProgress } from "../../observe/index.js";
import type { Trial, Verdict } from "./accept.js";
import type { EngineEntry } from "./catalog.js";

export interface ProvisioningOptions {
  /** Folder for engines of this user; created when it is needed. */
  cacheDir: string;
  /** `engines.llama.path`: use this program and no other. */
  configuredPath?: string;
  /** Whether a missing engine may be built here. */
  sourceBuild: boolean;
  env: NodeJS.ProcessEnv;
  artifacts: Artifacts;
  log: Logger;
  /** Default: the catalog that comes with Somnus. */
  catalogFile?: string;
}

/** A way to a program: what it found, or why not (for people), or null when it has nothing to say. */
export type Way = (
  context: Context,
  on: OnProgress,
  signal: AbortSignal,
) => Promise<Verdict | { accepted: false; reason: null }>;

export interface Context {
  options: ProvisioningOptions;
  engine: EngineEntry;
  /** Folder of this engine in the cache. */
  root: string;
  trial: Trial;
}

/** Name of the receipt in the folder of a build. */
export const RECEIPT = "receipt.json";

/** The program's file name on this system. */
export function programFile(engine: EngineEntry): string {
  return process.platform === "win32" ? `${engine.program}.exe` : engine.program;
}
