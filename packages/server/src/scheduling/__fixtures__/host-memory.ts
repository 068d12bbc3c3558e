import type {
  Budgets,
  Costs,
  Estimate,
  ModelCost,
  Plan,
  Refusal,
  Resident,
  Wanted,
} from "../../memory/index.js";
import { lossOf } from "../../memory/index.js";
import type { MemoryState, MemoryTerms } from "../state/memory-terms.js";

/** Memory of a machine without an accelerator, of so many bytes, planned in the simplest way. */
export function hostMemory(bytes: number): MemoryState {
  const budgets: Budgets = {
    devices: [],
    host: { bytes, unaccountedBytes: 0 },
    unified: false,
    deviceMapsWeights: false,
    tier2Bytes: 0,
    processMemoryCapBytes: null,
    ownBytes: 0,
    bandwidths: { diskToHost: null, hostToDevice: null, host: null },
  };
  return {
    budgets,
    plan: (_, residents, wanted, costs) => planOnHost(bytes, residents, wanted, costs),
  };
}

/** What a model needs that weighs so much and one byte more for each token of its context. `experts`: of its weights. */
export function memoryTerms(
  artifact: string,
  weights: number,
  priority: MemoryTerms["priority"] = "normal",
  experts = 0,
): MemoryTerms {
  return {
    artifact,
    artifactBytes: weights,
    priority,
    keepWarm: false,
    estimate: (contextTokens) => estimate(weights, contextTokens, experts),
    firmContextTokens: 1,
    gpuLayers: "auto",
    moeOffload: "off",
    cpuExpertLayers: null,
    minGpuLayerRatio: null,
    activeExpertShare: null,
  };
}

function estimate(weights: number, kv: number, experts: number): Estimate {
  return {
    layers: [{ weights: weights - experts, experts, kv }],
    inputWeights: 0,
    outputWeights: 0,
    projectorWeights: 0,
    workspace: { device: 0, host: 0 },
    process: { device: 0, host: 0 },
    kvBytesPerToken: 1,
    correction: 1,
  };
}

const RANKS = ["low", "normal", "high", "realtime_pinned"];

function planOnHost(
  bytes: number,
  residents: readonly Resident[],
  wanted: Wanted,
  costs: Costs,
): Plan | Refusal {
  const needed = (contextTokens: number) => {
    const [layer] = wanted.estimate.layers;
    return layer!.weights + layer!.experts + contextTokens;
  };
  const victims: Resident[] = [];
  const others = residents.filter((one) => one.model !== wanted.model);
  const free = () =>
    bytes -
    others
      .filter((one) => !victims.includes(one))
      .reduce((sum, one) => sum + one.hostBytes + one.keptBytes, 0);
  const mayGo = others.filter(
    (one) =>
      wanted.mayEvict &&
      one.held === null &&
      RANKS.indexOf(one.priority) <= RANKS.indexOf(wanted.priority),
  );
  for (const one of mayGo) {
    if (needed(wanted.contextTokens) <= free()) break;
    victims.push(one);
  }
  const contextTokens = Math.min(wanted.contextTokens, free() - needed(0));
  if (contextTokens < wanted.leastContextTokens) {
    return {
      accepted: false,
      code: "insufficient_memory",
      shortages: [],
      kept: [],
      reason: "there is no room.",
    };
  }
  return {
    accepted: true,
    placement: {
      kind: "cpu",
      layersOnDevice: [],
      cpuExpertLayers: 0,
      contextTokens,
      slots: wanted.slots,
      deviceBytes: [],
      hostBytes: needed(contextTokens),
      mappedBytes: 0,
    },
    victims: victims.map(({ model, tier }) => ({
      model,
      from: tier,
      reason: "memory_budget",
      toTier: "tier3_nvme_ssd",
      reloadMs: 0,
    })),
    releasesOwnPages: false,
    cost: {
      reloadMs: 0,
      lossMsPerMinute: victims.reduce((sum, { model }) => sum + loss(costs.models.get(model)), 0),
      slowerMsPerRequest: 0,
      transferMs: null,
    },
    reason: "it fits.",
  };
}

function loss(cost: ModelCost | undefined): number {
  return cost === undefined ? 0 : lossOf(cost.reloadMs.fromTier3 ?? 0, cost.expectedPerMinute);
}
