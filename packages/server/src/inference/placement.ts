import type { MemoryTier, Placement } from "@somnus/contract";
import type { EngineFacts } from "../engines/index.js";
import type { PoolModel } from "../models/index.js";

/** The tier a model is in. `facts`: its engine's, null when it is not loaded. */
export function tierOf(facts: EngineFacts | null): MemoryTier {
  return facts ? "tier1_gpu_vram" : "tier3_nvme_ssd";
}

/** A model's placement as its engine reported it when it loaded; `facts` null when it is not loaded. */
export function placementOf(model: PoolModel, facts: EngineFacts | null): Placement {
  const layers = model.gguf?.layers ?? 0;
  const gpuLayers = Math.min(layers, facts?.load.gpuLayers ?? 0);
  return {
    primary_tier: tierOf(facts),
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
