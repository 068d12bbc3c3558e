import type { MemoryTier, Placement } from "@somnus/contract";
import type { PoolModel } from "../models/index.js";
import type { ModelActivity } from "../scheduling/index.js";

/** The tier a model is in. */
export function tierOf(activity: ModelActivity): MemoryTier {
  return activity.facts ? "tier1_gpu_vram" : "tier3_nvme_ssd";
}

/** A model's placement as the engine reported it when it loaded. */
export function placementOf(model: PoolModel, activity: ModelActivity): Placement {
  const layers = model.gguf?.layers ?? 0;
  const { facts } = activity;
  const gpuLayers = Math.min(layers, facts?.load.gpuLayers ?? 0);
  return {
    primary_tier: tierOf(activity),
    gpu_layers: gpuLayers,
    pinned_ram_layers: facts ? layers - gpuLayers : 0,
    ssd_layers: facts ? 0 : layers,
    vram_weight_bytes: facts?.load.vramWeightBytes ?? 0,
    vram_kv_and_workspace_bytes: facts?.load.vramKvAndWorkspaceBytes ?? 0,
    // Host weights are mapped, and nothing locks them.
    pinned_ram_bytes: 0,
    allocated_context_len: facts?.contextTokens ?? 0,
    cpu_expert_layers: facts ? model.plan.cpuExpertLayers : 0,
  };
}
