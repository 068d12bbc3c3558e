// How long one decision of the scheduler takes with 100 models of which a third are loaded, and about
// 1,000 requests waiting; on simulated host memory, so that some decisions plan and evict.

import { plan } from "../packages/server/dist/memory/index.js";
import { decide } from "../packages/server/dist/scheduling/decision/decide.js";
import { createState } from "../packages/server/dist/scheduling/state/state.js";
import { quantile } from "./lib/statistics.mjs";
import { randomFrom } from "./residency/random.mjs";

const MODELS = 100;
const EVENTS = 60_000;
const WARM_UP = 10_000;
const WAITING = 1_000;
const GIB = 2 ** 30;

/** Prints median and p99 of a decision, in microseconds. */
export async function run() {
  const { next: random } = randomFrom(7);
  const state = createState(64, { budgets: hostOf(34 * GIB), plan });
  const terms = Array.from({ length: MODELS }, (_, i) => termsOf(i));
  const running = [];
  const work = [];
  const times = [];
  let at = 0;
  let request = 0;
  const send = (event) => {
    const begun = performance.now();
    const effects = decide(state, { ...event, at });
    times.push((performance.now() - begun) * 1_000);
    for (const effect of effects) {
      if (effect.type === "grant") running.push(effect.request);
      else if (effect.type === "load" || effect.type === "unload") work.push(effect);
    }
  };
  for (let i = 0; i < EVENTS; i++) {
    at += 5;
    const waiting = state.requests.size - running.length;
    if (waiting < WAITING && random() < 0.7) {
      const model = terms[Math.floor(random() ** 3 * MODELS)];
      send({
        type: "arrived",
        request: request++,
        terms: model,
        need: { promptBound: 400, maxTokens: 200 },
        outline: ["plain", `user\n${i % 50}`],
        keepAliveMs: null,
      });
    } else if (running.length > 0 && random() < 0.7) {
      const [done] = running.splice(Math.floor(random() * running.length), 1);
      send({ type: "finished", request: done, outline: ["plain"], answered: true });
    } else if (work.length > 0) {
      const effect = work.shift();
      if (effect.type === "unload") send({ type: "unloaded", model: effect.model });
      else {
        const { model, contextTokens } = effect;
        send({ type: "loaded", model, slots: 4, contextTokens });
      }
    } else send({ type: "tick" });
  }
  const measured = times.slice(WARM_UP);
  const us = (q) => quantile(measured, q).toFixed(1);
  console.log(
    `${MODELS} models, up to ${WAITING} waiting, ${measured.length} decisions: ` +
      `median ${us(0.5)} us, p99 ${us(0.99)} us, longest ${us(1)} us`,
  );
}

function hostOf(bytes) {
  return {
    devices: [],
    host: { bytes, unaccountedBytes: 0 },
    unified: false,
    deviceMapsWeights: false,
    tier2Bytes: 0,
    processMemoryCapBytes: null,
    ownBytes: 0,
    bandwidths: { diskToHost: null, hostToDevice: null, host: null },
  };
}

function termsOf(index) {
  const id = `model-${index}`;
  const weights = GIB * (0.5 + (index % 5) * 0.25);
  // The server keeps estimates too.
  const estimates = new Map();
  const estimate = (contextTokens) => {
    const kept = estimates.get(contextTokens) ?? estimateOf(weights, contextTokens);
    estimates.set(contextTokens, kept);
    return kept;
  };
  return {
    id,
    slots: 4,
    contextTokens: 8_192,
    maxContextTokens: 32_768,
    idleUnloadMs: 900_000,
    memory: {
      artifact: id,
      artifactBytes: weights,
      priority: "normal",
      keepWarm: false,
      estimate,
      firmContextTokens: 8_192,
      gpuLayers: "auto",
      moeOffload: "off",
      cpuExpertLayers: null,
      minGpuLayerRatio: null,
      activeExpertShare: null,
    },
  };
}

function estimateOf(weights, contextTokens) {
  const layers = Array.from({ length: 24 }, () => ({
    weights: weights / 24,
    experts: 0,
    kv: contextTokens * 512,
  }));
  return {
    layers,
    inputWeights: 0,
    outputWeights: 0,
    projectorWeights: 0,
    workspace: { device: 0, host: 50_000_000 },
    process: { device: 0, host: 50_000_000 },
    kvBytesPerToken: 24 * 512,
    correction: 1,
  };
}
