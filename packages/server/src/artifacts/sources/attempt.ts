import type { Logger } from "../../observe/index.js";
import type { ArtifactSpec } from "../artifact.js";
import type { Limits } from "../limits.js";
import type { PartFile } from "../part-file.js";
import type { Reach } from "../reach.js";
import type { Transfer } from "../transfer.js";

/** What one try of one source works with. */
export interface Attempt {
  spec: ArtifactSpec;
  /** Folder of the finished file. */
  dir: string;
  /** Where the bytes must end, complete and verified. */
  partPath: string;
  /** Creates the part file; whoever starts the attempt closes it. */
  openPart(): Promise<PartFile>;
  transfer: Transfer;
  /** The second try, with longer limits. */
  patient: boolean;
  limits: Limits;
  reach: Reach;
  env: NodeJS.ProcessEnv;
  log: Logger;
  signal: AbortSignal;
}
