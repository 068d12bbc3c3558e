import type { Artifacts } from "../../artifacts/index.js";
import type { OnProgress } from "../../observe/index.js";
import type { Converter } from "../convert/index.js";

/** What installing works with. */
export interface InstallOptions {
  artifacts: Artifacts;
  modelsDir: string;
  /** Hears of each file on its own: `file` of the progress names it. */
  on: OnProgress;
  signal: AbortSignal;
  /** Converters that come before those of this product. */
  converters?: readonly Converter[];
}
