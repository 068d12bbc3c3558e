import { plan } from "../../packages/server/dist/memory/planner/index.js";
import { quantile } from "../lib/statistics.mjs";
import { MACHINES } from "./machines.mjs";
import { budgetsFor } from "./policies.mjs";
import { randomFrom } from "./random.mjs";

const GB = 1e9;
const MODELS = 30;
const ROUNDS = 4000;

/** Prints how long one call of the planner takes with thirty resident models, most of them idle. */
export function planningTime() {
  for (const machine of [MACHINES.gpu24, MACHINES.gpus48, MACHINES.cpu16]) {
    const budgets = budgetsFor(machine);
    const random = randomFrom(7);
    const places = Math.max(1, machine.devices.length);
    const room = (machine.devices[0] ?? machine.host).totalBytes;
    const cases = Array.from({ length: 40 }, () => oneCase(random, machine, places, room));
    const times = [];
    let victims = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const { residents, wanted, costs } = cases[round % cases.length];
      const start = performance.now();
      const made = plan(budgets, residents, wanted, costs);
      times.push((performance.now() - start) * 1000);
      victims += made.accepted ? made.victims.length : 0;
    }
    const settled = times.slice(ROUNDS / 2);
    console.log(
      `plan() with ${MODELS} models, ${machine.name}: median ${quantile(settled, 0.5).toFixed(1)} us, ` +
        `p99 ${quantile(settled, 0.99).toFixed(1)} us; ${(victims / ROUNDS).toFixed(1)} victims a plan`,
    );
  }
}

function oneCase(random, machine, places, room) {
  const models = new Map();
  const residents = Array.from({ length: MODELS }, (_, i) => {
    const bytes = Math.floor(((room * places * 0.85) / MODELS) * random.between(0.4, 1.6));
    const onHost = machine.devices.length === 0;
    models.set(`m${i}`, {
      expectedPerMinute: random.next() ** 3,
      reloadMs: { fromTier2: null, fromTier3: 500 + bytes / 3e6 },
    });
    return {
      model: `m${i}`,
      artifact: `m${i}`,
      artifactBytes: bytes,
      tier: "tier1_gpu_vram",
      priority: random.pick(["low", "normal", "normal", "normal", "high"]),
      held: random.next() < 0.1 ? "leased" : null,
      keepWarm: random.next() < 0.3,
      deviceBytes: machine.devices.map((_, device) => (device === i % places ? bytes : 0)),
      hostBytes: onHost ? bytes : 0.1 * GB,
      mappedBytes: onHost ? Math.floor(bytes * 0.8) : 0,
      keptBytes: 0,
    };
  });
  const layer = {
    weights: Math.floor((room * random.between(0.1, 0.35)) / 64),
    experts: 0,
    kv: 16e6,
  };
  return {
    residents,
    costs: { models, bandwidths: machine.bandwidths },
    wanted: {
      model: "wanted",
      artifact: "wanted",
      artifactBytes: layer.weights * 64 + GB,
      priority: "normal",
      estimate: {
        layers: Array.from({ length: 64 }, () => ({ ...layer })),
        inputWeights: 0.5 * GB,
        outputWeights: 0.5 * GB,
        projectorWeights: 0,
        workspace: { device: 0.2 * GB, host: 0.1 * GB },
        process: { device: 0.2 * GB, host: 0.1 * GB },
        kvBytesPerToken: 64 * 2048,
        correction: 1,
      },
      contextTokens: 8192,
      slots: 1,
      firmContextTokens: 8192,
      leastContextTokens: 4096,
      gpuLayers: "auto",
      moeOffload: "off",
      cpuExpertLayers: null,
      minGpuLayerRatio: null,
      activeExpertShare: null,
      tier: "tier3_nvme_ssd",
      mayEvict: true,
    },
  };
}
