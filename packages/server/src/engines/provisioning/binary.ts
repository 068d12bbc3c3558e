/** Where a program came from. */
export type BinaryOrigin = "configured" | "path" | "release" | "source";

/** A llama-server that was probed, answered the smoke test and may be run. */
export interface EngineBinary {
  /** Absolute path of the executable. */
  path: string;
  /** For people and for `/v1/runtime/identity`: "llama.cpp 11434". */
  version: string;
  /** llama.cpp's build number; null when the program does not tell it. */
  build: number | null;
  /** SHA-256 of the executable, lower-case hex. */
  digest: string;
  origin: BinaryOrigin;
  /** When it was built here, ISO 8601; absent for a program that came from elsewhere. */
  builtAt?: string;
}
