import type { Engine, LoadPlan, ModelSpec } from "../engines/index.js";
import type { ModelTerms } from "./state.js";

/** A model as the scheduler runs it. */
export interface Schedulable {
  terms: ModelTerms;
  spec: ModelSpec;
  plan: Omit<LoadPlan, "slots" | "contextTokens">;
  engine: Engine;
}
