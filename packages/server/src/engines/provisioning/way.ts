import type { Artifacts } from "../../artifacts/index.js";
import type { Logger, OnProgress } from "../../observe/index.js";
import type { Trial, Verdict } from "./accept.js";
import { buildNumbered, defaultBuild, type EngineEntry, type PinnedBuild } from "./catalog.js";
import type { Driver } from "./drivers.js";
import type { Setback } from "./steering/setbacks.js";

export interface ProvisioningOptions {
  /** Folder for engines of this user; created when it is needed. */
  cacheDir: string;
  /** `engines.llama.path`: use this program and no other. */
  configuredPath?: string;
  /** Whether a missing engine may be built here. */
  sourceBuild: boolean;
  /** Whether a missing engine may be fetched ready-made; default false. */
  releaseBuild?: boolean;
  /** Address of release files in place of the catalog's, the build's number for `{build}`; ends with a slash. */
  releaseUrl?: string;
  env: NodeJS.ProcessEnv;
  artifacts: Artifacts;
  log: Logger;
  /** Default: the catalog that comes with Somnus. */
  catalogFile?: string;
  /** Default: what `findDrivers` sees on this machine. */
  drivers?: () => Promise<Driver[]>;
}

/** What is asked for; what is absent follows from the machine and the catalog. */
export interface Wanted {
  /** A build of the catalog. */
  number?: number;
  /** An accelerator or the variant of a release asset: "cuda", "cuda-12.8", "cpu". */
  accelerator?: string;
  /** Also what failed on this machine before. */
  again?: boolean;
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
  wanted: Wanted;
  /** Builds that are passed over. */
  setbacks: readonly Setback[];
  /** Graphics drivers of this machine, looked up once. */
  drivers(): Promise<Driver[]>;
}

/**
 * The build of the catalog that is asked for.
 * @throws SomnusError `model_unavailable` when the catalog has none with that number
 */
export function wantedBuild({ engine, wanted }: Pick<Context, "engine" | "wanted">): PinnedBuild {
  return wanted.number === undefined ? defaultBuild(engine) : buildNumbered(engine, wanted.number);
}

/** Name of the receipt in the folder of a build. */
export const RECEIPT = "receipt.json";

/** The program's file name on this system. */
export function programFile(engine: EngineEntry): string {
  return process.platform === "win32" ? `${engine.program}.exe` : engine.program;
}
