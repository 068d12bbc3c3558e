import type { Logger } from "../../observe/index.js";
import type { ArtifactSpec } from "../artifact.js";
import type { Limits } from "../limits.js";
import type { Expectation, Part, Sealed } from "../part/part.js";
import type { Reach } from "../reach.js";
import type { SharedPackages } from "../shared-packages.js";
import type { Transfer } from "../transfer.js";

/** What one try of one source works with. */
export interface Attempt {
  /** The wanted file. Its size and hash may be null; a part's `expected` is what is known by now. */
  spec: ArtifactSpec;
  /** Folder of the finished file. */
  dir: string;
  /**
   * Opens the file's part, with the bytes that an earlier try left when they can be used. The source's own
   * metadata says what the spec does not; throws `wrong` where the two differ. Whoever started the attempt closes
   * the part. Called once; a sealed part is the result.
   */
  openPart(told?: Partial<Expectation>): Promise<Part>;
  /** Where a second name of a file that is here already may be made. */
  linkPath: string;
  /** This file, under `linkPath` or a sealed part, is the result: checked, or with nothing to check it against. */
  linked(file: Sealed, told?: Partial<Expectation>): void;
  transfer: Transfer;
  /** The packages that this file shares with others; null when it is fetched alone. */
  packages: SharedPackages | null;
  /** The second try, with longer limits. */
  patient: boolean;
  limits: Limits;
  reach: Reach;
  env: NodeJS.ProcessEnv;
  log: Logger;
  signal: AbortSignal;
}
