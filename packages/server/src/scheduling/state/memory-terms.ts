import type {
  Budgets,
  Costs,
  Estimate,
  Plan,
  Priority,
  Refusal,
  Resident,
  Wanted,
} from "../../memory/index.js";

/** What the planner must know of a model. Bytes and tokens. */
export interface MemoryTerms {
  /** The identity of its weights: models with the same one share its mapped pages. */
  artifact: string;
  artifactBytes: number;
  /** What these terms were read from: another object once the model's files are others. */
  readFrom?: object;
  priority: Priority;
  keepWarm: boolean;
  /** What it needs with a pool context; pure. */
  estimate(contextTokens: number): Estimate;
  /** Pool context that is worth a worse placement. */
  firmContextTokens: number;
  gpuLayers: number | "auto";
  moeOffload: "off" | "auto" | "on";
  cpuExpertLayers: number | null;
  minGpuLayerRatio: number | null;
  activeExpertShare: number | null;
}

/** What the scheduler plans memory with. */
export interface MemoryState {
  budgets: Budgets;
  /** Pure. */
  plan(
    budgets: Budgets,
    residents: readonly Resident[],
    wanted: Wanted,
    costs: Costs,
  ): Plan | Refusal;
}
