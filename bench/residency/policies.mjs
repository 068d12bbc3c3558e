// Who goes when a model is to be loaded. All policies lay models out with the same planner, so they
// differ in their victims only.
import {
  expectedPerMinute,
  withRequest,
} from "../../packages/server/dist/memory/eviction/index.js";
import { budgetsOf, plan } from "../../packages/server/dist/memory/planner/index.js";

const GB = 1e9;
const LAYERS = 32;

/** The planner's own choice. */
export function planned(machine) {
  const budgets = budgetsFor(machine);
  const uses = new Map();
  return {
    name: "planner",
    arrived: (model, now) => {
      uses.set(model.id, withRequest(uses.get(model.id) ?? null, now));
    },
    choose: (models, model, now) => {
      const known = new Map();
      for (const one of models.values()) {
        known.set(one.id, {
          expectedPerMinute: expectedPerMinute(uses.get(one.id) ?? null, now),
          reloadMs: { fromTier2: one.loadMs, fromTier3: one.loadMs },
        });
      }
      const costs = { models: known, bandwidths: machine.bandwidths };
      const made = plan(budgets, residentsOf(models), wantedOf(model, machine), costs);
      if (!made.accepted) return null;
      return { victims: made.victims.map((victim) => victim.model), placement: made.placement };
    },
  };
}

/** One idle model after another in an order, until the planner finds room. */
function inOrder(name, order) {
  return (machine) => {
    const budgets = budgetsFor(machine);
    const costs = { models: new Map(), bandwidths: machine.bandwidths };
    return {
      name,
      arrived: () => {},
      choose: (models, model) => {
        const idle = [...models.values()].filter((one) => holdOf(one) === null && one.placed);
        idle.sort(order);
        const victims = [];
        for (;;) {
          const staying = residentsOf(models).filter((one) => !victims.includes(one.model));
          const wanted = { ...wantedOf(model, machine), mayEvict: false };
          const made = plan(budgets, staying, wanted, costs);
          if (made.accepted) return { victims, placement: made.placement };
          const next = idle.shift();
          if (next === undefined) return null;
          victims.push(next.id);
        }
      },
    };
  };
}

/** Least recently used first. */
export const leastRecentlyUsed = inOrder("LRU", (a, b) => a.usedAt - b.usedAt);

/** The one used last goes first. */
export const lastUsedFirst = inOrder("last used first", (a, b) => b.usedAt - a.usedAt);

/** What the planner may use of a made-up machine. */
export function budgetsFor(machine) {
  return budgetsOf(machine, {
    processMemoryCapBytes: null,
    ownBytes: 0.1 * GB,
    unaccountedDeviceBytes: [],
    unaccountedHostBytes: 0,
  });
}

function holdOf(model) {
  if (model.phase === "loading") return "loading";
  if (model.queue.length > 0) return "claimed";
  return model.busy > 0 ? "leased" : null;
}

function residentsOf(models) {
  const residents = [];
  for (const model of models.values()) {
    if (!model.placed) continue;
    residents.push({
      model: model.id,
      artifact: model.id,
      artifactBytes: model.weights * GB,
      tier: "tier1_gpu_vram",
      priority: "normal",
      held: holdOf(model),
      keepWarm: false,
      deviceBytes: model.placed.deviceBytes,
      hostBytes: model.placed.hostBytes,
      mappedBytes: model.placed.mappedBytes,
      keptBytes: 0,
    });
  }
  return residents;
}

/** A model as the planner is asked for it: whole, or not at all. */
function wantedOf(model, machine) {
  const onGpu = machine.devices.length > 0;
  const beside = model.beside * GB;
  return {
    model: model.id,
    artifact: model.id,
    artifactBytes: model.weights * GB,
    priority: "normal",
    estimate: {
      layers: Array.from({ length: LAYERS }, () => ({
        weights: Math.floor((model.weights * GB * 0.94) / LAYERS),
        experts: 0,
        kv: Math.floor((beside * 0.4) / LAYERS),
      })),
      inputWeights: Math.floor(model.weights * GB * 0.03),
      outputWeights: Math.floor(model.weights * GB * 0.03),
      projectorWeights: 0,
      workspace: {
        device: Math.floor(beside * 0.3),
        host: Math.floor(beside * (onGpu ? 0.05 : 0.5)),
      },
      process: { device: Math.floor(beside * 0.25), host: Math.floor(beside * 0.1) },
      kvBytesPerToken: Math.floor((beside * 0.4) / 8192),
      correction: 1,
    },
    contextTokens: 8192,
    slots: model.slots,
    firmContextTokens: 8192,
    leastContextTokens: 8192,
    gpuLayers: "auto",
    moeOffload: "off",
    cpuExpertLayers: null,
    minGpuLayerRatio: onGpu ? 1 : null,
    activeExpertShare: null,
    tier: "tier3_nvme_ssd",
    mayEvict: true,
  };
}
