/** The files of one conversion: the name that a converter wants -> where it lies, absolute. */
export type InputFiles = ReadonlyMap<string, string>;

/** What the output shall say of its origin. Nothing of it can be told from the inputs themselves. */
export interface About {
  /** "all-MiniLM-L6-v2". */
  name?: string | undefined;
  /** SPDX identifier in lower case: "apache-2.0". */
  license?: string | undefined;
  /** Where the model is published. */
  url?: string | undefined;
}

/** Where a conversion puts its bytes, front to back. */
export interface Output {
  /** Throws the signal's reason when the conversion is cancelled, a `SomnusError` when they cannot be stored. */
  write(bytes: Uint8Array): Promise<void>;
}

/**
 * Makes a file that an engine can load out of files that it cannot. One conversion makes one file; a
 * model of several files is several conversions of the same inputs, told apart by `type`.
 *
 * The same inputs, type and `About` give the same bytes on every machine, and the memory that a
 * conversion takes does not grow with the size of the weights.
 */
export interface Converter {
  /** Stable, used in catalogs: "sentence-transformers-bert". */
  readonly id: string;
  /** For people: what it reads. */
  readonly from: string;
  /** For people: what it makes. */
  readonly to: string;
  /** The outputs it can make; the first is the default. */
  readonly types: readonly string[];
  /**
   * Names of the inputs that it makes use of, with forward slashes, relative to the model's folder; a
   * `*` stands for any characters of a file name. Which of them are needed depends on the model.
   */
  readonly files: readonly string[];
  /** Whether the folder looks like its kind of model. False for a folder that cannot be read. */
  detect(folder: string): Promise<boolean>;
  /**
   * Reads and checks all that can be checked before anything is written. The inputs are not trusted.
   * @throws SomnusError `model_unavailable` naming the file and what is missing, wrong or not supported
   */
  prepare(files: InputFiles, options: PrepareOptions, signal: AbortSignal): Promise<Prepared>;
}

export interface PrepareOptions {
  /** One of the converter's `types`. */
  type: string;
  about: About;
}

/** A conversion whose inputs are open and consistent. Whoever got it closes it. */
export interface Prepared {
  /** As the output names it: "bert". */
  readonly architecture: string;
  /** Bytes of the output. */
  readonly size: number;
  /** What the output cannot express or was assumed, for people; whole sentences. */
  readonly notes: readonly string[];
  /** Writes the whole output. @throws SomnusError when an input turns out to be damaged */
  write(out: Output, signal: AbortSignal): Promise<void>;
  /** Reads the written file back and compares it with what was meant. @throws SomnusError when it differs */
  check(path: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
