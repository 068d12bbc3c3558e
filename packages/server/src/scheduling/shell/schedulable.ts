import type { Engine, LoadPlan, ModelSpec } from "../../engines/index.js";
import type { ModelTerms } from "../state/state.js";

/** A model as the scheduler runs it. */
export interface Schedulable {
  terms: ModelTerms;
  spec: ModelSpec;
  /** What its engine reads, and tier 2 holds: paths of all files of its weights. */
  files: readonly string[];
  plan: Omit<LoadPlan, "slots" | "contextTokens">;
  engine: Engine;
  /** Tells what its slots can be parked as, from its files; absent: they are not parked. */
  parkingKey?: () => Promise<string>;
}
