import type { MemoryTier, Placement } from "@somnus/contract";
import type { EngineFacts } from "../engines/index.js";
import type { PoolModel } from "../models/index.js";
import type { Booked } from "./parts.js";

/** The tier a model is in. `facts`: its engine's, null when it is not loaded. */
export function tierOf(facts: EngineFacts | null): MemoryTier {
  return facts ? "tier1_gpu_vram" : "tier3_nvme_ssd";
}

/**
 * A model's placement: as its engine reported it when it loaded, else as it was booked.
 * @param facts null when it is not loaded
 * @param booked null when it is not loaded, or its memory is not planned
 */
export function placementOf(
  model: PoolModel,
  facts: EngineFacts | null,
  booked: Booked | null,
): Placement {
  const layers = model.gguf?.layers ?? 0;
  if (facts === null) return { ...NOT_LOADED, ssd_layers: layers };
  const { load } = facts;
  const planned = sum(booked?.layersOnDevice ?? []);
  const gpuLayers = Math.min(layers, load.gpuLayers ?? planned);
  const weights = load.vramWeightBytes ?? 0;
  return {
    ...NOT_LOADED,
    primary_tier: tierOf(facts),
    gpu_layers: gpuLayers,
    pinned_ram_layers: layers - gpuLayers,
    vram_weight_bytes: weights,
    vram_kv_and_workspace_bytes:
      load.vramKvAndWorkspaceBytes ?? Math.max(0, sum(booked?.deviceBytes ?? []) - weights),
    allocated_context_len: facts.contextTokens,
    cpu_expert_layers: booked?.cpuExpertLayers ?? model.plan.cpuExpertLayers,
  };
}

const NOT_LOADED: Placement = {
  primary_tier: "tier3_nvme_ssd",
  gpu_layers: 0,
  pinned_ram_layers: 0,
  ssd_layers: 0,
  vram_weight_bytes: 0,
  vram_kv_and_workspace_bytes: 0,
  // Host weights are mapped, and nothing locks them.
  pinned_ram_bytes: 0,
  allocated_context_len: 0,
  cpu_expert_layers: 0,
};

/** The sum of some sizes; 0 for none. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
