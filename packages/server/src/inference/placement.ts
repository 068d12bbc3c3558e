import type { Placement } from "@somnus/contract";
import type { PoolModel } from "../models/index.js";
import type { ModelActivity } from "../scheduling/index.js";

/** A model's placement: as its engine reported it when it loaded, else as it was booked. */
export function placementOf(
  model: PoolModel,
  { facts, placement: booked, keptBytes }: Pick<ModelActivity, "facts" | "placement" | "keptBytes">,
): Placement {
  const layers = model.gguf?.layers ?? 0;
  if (facts === null && keptBytes > 0) {
    return {
      ...NOT_LOADED,
      primary_tier: "tier2_pinned_ram",
      pinned_ram_layers: layers,
      pinned_ram_bytes: keptBytes,
    };
  }
  if (facts === null) return { ...NOT_LOADED, ssd_layers: layers };
  const { load } = facts;
  const planned = sum(booked?.layersOnDevice ?? []);
  const gpuLayers = Math.min(layers, load.gpuLayers ?? planned);
  const weights = load.vramWeightBytes ?? 0;
  return {
    ...NOT_LOADED,
    primary_tier: "tier1_gpu_vram",
    gpu_layers: gpuLayers,
    pinned_ram_layers: layers - gpuLayers,
    vram_weight_bytes: weights,
    vram_kv_and_workspace_bytes:
      load.vramKvAndWorkspaceBytes ?? Math.max(0, sum(booked?.deviceBytes ?? []) - weights),
    pinned_ram_bytes: keptBytes,
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
  pinned_ram_bytes: 0,
  allocated_context_len: 0,
  cpu_expert_layers: 0,
};

/** The sum of some sizes; 0 for none. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
