import type { Estimate, Placement } from "../estimate-types.js";
import type { EvictionReason, MemoryTier, Priority } from "../eviction/kinds.js";
import type { Bandwidths } from "../machine.js";

/** Why a resident model cannot go now. `spared`: whoever asks may not evict it, background work for example. */
export type Hold = "leased" | "claimed" | "loading" | "leaving" | "pinned" | "spared";

/**
 * What holds memory of a model: its engine in tier 1, or its kept pages in tier 2. A model that has both is
 * two residents, since either can go without the other. Bytes.
 */
export interface Resident {
  model: string;
  /** The weights' identity: models with the same one share its mapped pages. */
  artifact: string;
  /** Size of the artifact: no number of users maps more of it. */
  artifactBytes: number;
  tier: Exclude<MemoryTier, "tier3_nvme_ssd">;
  priority: Priority;
  held: Hold | null;
  /** `keep_warm_in_ram`: where there is room its weights stay in tier 2. */
  keepWarm: boolean;
  /** Booked for its engine on each device; empty or zeros without one. */
  deviceBytes: readonly number[];
  /** Booked for its engine on the host, `mappedBytes` included where they are there. */
  hostBytes: number;
  /** Pages of the artifact that its engine maps (see `Placement.mappedBytes`). */
  mappedBytes: number;
  /** Pages of the artifact that the keeper holds in tier 2. */
  keptBytes: number;
}

/** A model that is to be loaded, and what may be done for it. */
export interface Wanted {
  model: string;
  artifact: string;
  artifactBytes: number;
  priority: Priority;
  /** What it needs with `contextTokens` of pool context and `slots`. */
  estimate: Estimate;
  contextTokens: number;
  slots: number;
  /**
   * Pool context that is worth a worse placement; between this and `contextTokens` the pool takes what is
   * left over. Equal to `contextTokens` where a person has set it.
   */
  firmContextTokens: number;
  /** What the waiting request needs: less context than this is no use. */
  leastContextTokens: number;
  /** The estimate with `leastContextTokens`; without it, it is told from `kvBytesPerToken`. */
  leastEstimate?: Estimate;
  gpuLayers: number | "auto";
  moeOffload: "off" | "auto" | "on";
  /** Exactly so many layers with their experts on the host, whatever `moeOffload` says. */
  cpuExpertLayers: number | null;
  /** The least share of layers on devices; null and 0 allow a placement on the CPU alone. */
  minGpuLayerRatio: number | null;
  /** Share of the experts that one token uses; null when unknown. */
  activeExpertShare: number | null;
  /** Where its weights are now. */
  tier: MemoryTier;
  /** Whether idle models may go for it. */
  mayEvict: boolean;
}

/** What is known of a model's use and of its loads. */
export interface ModelCost {
  /** Requests a minute to be expected, of `expectedPerMinute`. */
  expectedPerMinute: number;
  /** Measured time to load it, in ms; null until it was. */
  reloadMs: { fromTier2: number | null; fromTier3: number | null };
}

/** What the planner weighs with. */
export interface Costs {
  /** By model id; a model without an entry has never been used. */
  models: Pick<ReadonlyMap<string, ModelCost>, "get">;
  bandwidths: Bandwidths;
}

/** A model's engine or kept pages that have to go, and where the model is then. */
export interface Victim {
  model: string;
  /** Tier 1: its engine goes; tier 2: its kept pages. */
  from: Exclude<MemoryTier, "tier3_nvme_ssd">;
  reason: EvictionReason;
  toTier: Exclude<MemoryTier, "tier1_gpu_vram">;
  /** What it will cost to have it back, in ms. */
  reloadMs: number;
}

/** How a model can be loaded now. */
export interface Plan {
  accepted: true;
  placement: Placement;
  victims: Victim[];
  /** The model's own pages in tier 2 have to be released for it. */
  releasesOwnPages: boolean;
  cost: {
    /** Reloads of the victims, in ms. */
    reloadMs: number;
    /** Waiting that the victims' absence is expected to cause, ms a minute. */
    lossMsPerMinute: number;
    /** What a request takes longer than with the model whole on a device, in ms; expected, rough. */
    slowerMsPerRequest: number;
    /** Moving the weights to their place, in ms; null where a bandwidth is unmeasured. */
    transferMs: number | null;
  };
  /** For people. */
  reason: string;
}

/** One memory that is too small for a model. Bytes. */
export interface Shortage {
  /** A device's name, `host memory`, or `process memory cap`. */
  where: string;
  neededBytes: number;
  freeBytes: number;
  /** Free if all that may go were gone. */
  freeAfterEvictionsBytes: number;
}

/** Why a model cannot be loaded now. */
export interface Refusal {
  accepted: false;
  /** The contract's kind of 507. */
  code: "insufficient_memory" | "process_memory_cap";
  /** For the placement that needs least. */
  shortages: Shortage[];
  /** Models that hold memory and may not go. */
  kept: { model: string; why: Hold | "higher_priority" }[];
  /** For people. */
  reason: string;
}
