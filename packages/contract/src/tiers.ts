import Type, { type Static } from "typebox";
import { OneOf, Schema } from "./schema.js";

/** Where a model's weights are. */
export const MEMORY_TIERS = ["tier1_gpu_vram", "tier2_pinned_ram", "tier3_nvme_ssd"] as const;
/** One of {@link MEMORY_TIERS}. */
export const MemoryTier = OneOf(MEMORY_TIERS);
export type MemoryTier = (typeof MEMORY_TIERS)[number];

/** What a model can do. */
export const MODALITIES = [
  "text_generation",
  "vision",
  "speech_to_text",
  "text_to_speech",
  "embeddings",
  "image_generation",
  "document_conversion",
  "entity_extraction",
] as const;
/** One of {@link MODALITIES}. */
export const Modality = OneOf(MODALITIES);
export type Modality = (typeof MODALITIES)[number];

/** How one model is laid out over the tiers. Layer counts are layers, sizes are bytes. */
export const Placement = Schema(
  Type.Object(
    {
      primary_tier: MemoryTier,
      gpu_layers: Type.Integer(),
      pinned_ram_layers: Type.Integer(),
      ssd_layers: Type.Integer(),
      vram_weight_bytes: Type.Integer(),
      vram_kv_and_workspace_bytes: Type.Integer(),
      pinned_ram_bytes: Type.Integer(),
      allocated_context_len: Type.Integer({
        description: "Tokens of context funded, across all slots.",
      }),
      cpu_expert_layers: Type.Integer(),
    },
    { $id: "Placement", description: "How a model is laid out over the memory tiers." },
  ),
);
export type Placement = Static<typeof Placement>;
