import type { BuildAccelerator } from "./build-id.js";

/** Where a program came from; `local`: a program of the user's own that was registered. */
export type BinaryOrigin = "configured" | "path" | "local" | "release" | "source";

/** A llama-server that was probed, answered the smoke test and may be run. */
export interface EngineBinary {
  /** What a person calls this build, see `buildId`: "b11434-cpu-release". */
  id: string;
  /** Absolute path of the executable. */
  path: string;
  /** For people and for `/v1/runtime/identity`: "llama.cpp 11434". */
  version: string;
  /** llama.cpp's build number; null when the program does not tell it. */
  build: number | null;
  /** SHA-256 of the executable, lower-case hex. */
  digest: string;
  origin: BinaryOrigin;
  accelerator: BuildAccelerator;
  /** When it was built or fetched, ISO 8601; absent for a program that came from elsewhere. */
  builtAt?: string;
  /** Files of a release whose digest nobody but the first download here vouches for. */
  pinnedHere?: string[];
}
