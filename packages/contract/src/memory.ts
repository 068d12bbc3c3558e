import Type, { type Static, type TSchema } from "typebox";
import { KvPark } from "./kv-park.js";
import { Latency } from "./latency.js";
import { Profile } from "./profile.js";
import { Maybe, OneOf, Schema } from "./schema.js";
import { MEMORY_TIERS, MemoryTier, Modality, Placement } from "./tiers.js";

const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const bytes = (description: string) => Type.Integer({ description });
const bytesOrNull = (description: string) => orNull(Type.Integer(), description);

/** What computes. */
export const ACCELERATORS = ["NvidiaCuda", "AmdRocm", "AppleMetal", "Vulkan", "Cpu"] as const;
/** Whether the accelerator has memory of its own. */
export const TOPOLOGIES = ["DiscretePcie", "UnifiedMemory"] as const;
/** Who stays when memory is short, those that go first at the front. */
export const MODEL_PRIORITIES = ["low", "normal", "high", "realtime_pinned"] as const;
/** Why a model had to go. */
export const EVICTION_REASONS = [
  "memory_budget",
  "full_gpu_placement",
  "process_memory_cap",
  "device_out_of_memory",
] as const;

/** What the machine has and what of it may be used. Sizes are bytes; unmeasured is null. */
export const Capabilities = Schema(
  Type.Object(
    {
      accelerator: OneOf(ACCELERATORS),
      topology: OneOf(TOPOLOGIES),
      device_name: Type.String(),
      total_vram_bytes: bytes("Memory of tier 1: of the devices, or the host's without any."),
      usable_vram_budget_bytes: bytes("What of it is given out to models."),
      pinned_ram_budget_bytes: bytes("What tier 2 may take of host memory."),
      physical_memory_bytes: bytes("Host memory, a container's limit and a simulation applied."),
      simulated: Type.Boolean({ description: "Whether the machine is made up." }),
      installed_memory_bytes: bytes("Memory of the machine that the server runs on."),
      tier2_to_tier1_bandwidth_gbps: orNull(Type.Number(), "GB a second, host to device."),
      tier3_to_tier2_bandwidth_gbps: orNull(Type.Number(), "GB a second, disk to host."),
    },
    { $id: "Capabilities" },
  ),
);
export type Capabilities = Static<typeof Capabilities>;

/** How far estimates were from the waits themselves, over the last waits for a model. */
export const WaitEstimates = Schema(
  Type.Object(
    {
      count: Type.Integer({ description: "Waits that were compared since the server started." }),
      median_error_ms: Type.Number(),
      p90_error_ms: Type.Number(),
      median_error_share: Type.Number({
        description: "As a share of the wait: 0.25 is a quarter.",
      }),
      p90_error_share: Type.Number(),
    },
    { $id: "WaitEstimates" },
  ),
);
export type WaitEstimates = Static<typeof WaitEstimates>;

/** Weights of a model in tier 2, whether an engine runs or not. Sizes are bytes; unmeasured is null. */
export const KeptWeights = Schema(
  Type.Object(
    {
      state: OneOf(["coming", "kept", "restoring", "leaving"]),
      booked_bytes: bytes("What is booked for them in tier 2."),
      resident_bytes: bytesOrNull("In memory now."),
      locked_bytes: bytesOrNull("In memory and locked there."),
      not_locked_because: orNull(Type.String(), "Why not all of them are locked."),
    },
    { $id: "KeptWeights" },
  ),
);
export type KeptWeights = Static<typeof KeptWeights>;

/** One model as memory management sees it. */
export const MemoryModel = Schema(
  Type.Object(
    {
      id: Type.String(),
      enabled: Type.Boolean(),
      modality: Modality,
      modalities: Type.Array(Modality),
      engine: Type.String({ description: "The kind of engine that runs it." }),
      total_weight_bytes: bytesOrNull("Null when its file cannot be read."),
      priority: OneOf(MODEL_PRIORITIES),
      current_tier: MemoryTier,
      state: OneOf(["unloaded", "loading", "ready", "unloading"]),
      placement: Placement,
      booked_bytes: bytes("Booked for it on devices and on the host, weights included."),
      kept_weights: orNull(
        KeptWeights,
        "Its weights in tier 2; null when nothing of them is held.",
      ),
      kept_problem: orNull(
        Type.String(),
        "Why its weights could not be kept in memory the last time, or no longer.",
      ),
      moe_offload: OneOf(["off", "auto", "on"]),
      expert_bytes: bytesOrNull("Weights of routed experts; 0 for a dense model."),
      pinned: Type.Boolean({ description: "Whether it stays loaded until its pin is taken away." }),
      active_leases: Type.Integer({ description: "Requests running on the model now." }),
      queued_requests: Type.Integer({ description: "Requests waiting for the model now." }),
      waits_for_memory: Type.Boolean({ description: "Whether others have to make room for it." }),
      idle_seconds: orNull(Type.Number(), "Since its last use; null when it was never loaded."),
      total_requests_served: Type.Integer({ description: "Since the server started." }),
      requests_per_minute: Type.Number({ description: "Decayed over ten minutes." }),
      reload_estimate_ms: orNull(
        Type.Number(),
        "Time to have it back after an eviction: measured, else told from its size.",
      ),
      service_ms: orNull(Type.Number(), "Average time a request holds it; null before the first."),
      estimated_wait_ms: orNull(
        Type.Number(),
        "What a new request would wait until it starts; null when nothing tells.",
      ),
      wait_estimates: orNull(WaitEstimates, "Null before the first wait."),
    },
    { $id: "MemoryModel" },
  ),
);
export type MemoryModel = Static<typeof MemoryModel>;

/** One automatic eviction. */
export const Eviction = Schema(
  Type.Object(
    {
      model: Type.String(),
      for_model: Type.String({ description: "The model that needed the memory." }),
      reason: OneOf(EVICTION_REASONS),
      to_tier: MemoryTier,
      unix_ms: Type.Integer(),
    },
    { $id: "Eviction" },
  ),
);
export type Eviction = Static<typeof Eviction>;

/** How the first device is that models compute on. What it does not tell is null. */
export const GpuState = Schema(
  Type.Object(
    {
      utilization_percent: orNull(Type.Number(), "Time in which it computed, lately."),
      temperature_celsius: orNull(Type.Number(), "Of its chip."),
      power_watts: orNull(Type.Number(), "What it draws."),
      sm_clock_mhz: orNull(Type.Number(), "The clock of its multiprocessors."),
      throttle_reasons: orNull(
        Type.Integer(),
        "NVML's bits of what sets its clocks (nvmlClocksEventReasons); idle is one of them.",
      ),
      throttled: orNull(Type.Boolean(), "Whether heat or a limit of power holds its clocks down."),
      ecc_uncorrected_errors: orNull(Type.Integer(), "Since the driver was loaded."),
      retired_pages_pending: orNull(
        Type.Boolean(),
        "Whether worn-out memory is taken out of use at the next restart of the device.",
      ),
      sampled_unix_ms: Type.Integer({ description: "Sampled every few seconds at most." }),
    },
    { $id: "GpuState" },
  ),
);
export type GpuState = Static<typeof GpuState>;

/** `GET /v1/memory/status`: the three tiers and who is in them. Unmeasured is null. */
export const MemoryStatus = Schema(
  Type.Object(
    {
      capabilities: Capabilities,
      tier1_vram_used_bytes: bytes("Booked for models in tier 1."),
      tier1_vram_free_bytes: bytes("The budget without what is booked."),
      tier1_vram_real_free_bytes: bytesOrNull("What the devices report; null without any."),
      tier1_vram_real_total_bytes: bytesOrNull("What the devices report; null without any."),
      tier1_vram_unaccounted_bytes: bytes("Used by others, as measured; it is not given out."),
      tier1_vram_effective_free_bytes: bytes("What a load can use right now."),
      tier2_pinned_ram_used_bytes: bytes(
        "Weights kept in host memory, measured where that can be.",
      ),
      tier2_pinned_ram_free_bytes: bytes("The budget without them."),
      tier2_resident_bytes: bytesOrNull("What of kept weights is in memory now."),
      tier2_locked_bytes: bytesOrNull("What of kept weights is locked in memory."),
      physical_pool_free_bytes: bytesOrNull(
        "What is left of the memory that all tiers share; null when tier 1 has its own.",
      ),
      process_footprint_bytes: bytesOrNull(
        "Memory of the server and its engines, each page counted once.",
      ),
      process_memory_bytes: bytesOrNull("Resident memory of the server and its engines."),
      process_memory_cap_bytes: bytesOrNull("hardware.max_process_memory_bytes"),
      gpu: Type.Optional(GpuState),
      kv_park: KvPark,
      models: Type.Array(MemoryModel),
      recent_evictions: Type.Array(Eviction, { description: "The newest first." }),
      latency: Latency,
      profile: Type.Optional(Profile),
    },
    { $id: "MemoryStatus" },
  ),
);
export type MemoryStatus = Static<typeof MemoryStatus>;

/** `POST /v1/memory/pin` */
export const PinRequest = Schema(
  Type.Object(
    {
      model: Type.String({ minLength: 1, description: "The id of a model of the pool." }),
      pinned: Type.Boolean({ description: "False takes the pin away." }),
    },
    { $id: "PinRequest" },
  ),
);
export type PinRequest = Static<typeof PinRequest>;

/** Whether the model is pinned now. */
export const Pinned = Schema(
  Type.Object(
    {
      model: Type.String(),
      pinned: Type.Boolean(),
      resident: Type.Boolean({ description: "Whether it is loaded." }),
    },
    { $id: "Pinned" },
  ),
);
export type Pinned = Static<typeof Pinned>;

/** `POST /v1/memory/tier` */
export const TierMove = Schema(
  Type.Object(
    {
      model: Type.String({ minLength: 1, description: "The id of a model of the pool." }),
      target_tier: OneOf(MEMORY_TIERS),
      context_len: Maybe(
        Type.Integer({
          minimum: 1,
          maximum: 2147483647,
          description: "Tokens of context to allocate in tier 1.",
        }),
      ),
      estimate_only: Maybe(
        Type.Boolean({
          description: "Only tells how the model would be loaded into tier 1; nothing is done.",
        }),
      ),
    },
    { $id: "TierMove" },
  ),
);
export type TierMove = Static<typeof TierMove>;

/** How a model would be loaded, and why so. */
export const LoadPlan = Schema(
  Type.Object(
    {
      fits: Type.Boolean(),
      reason: Type.String({ description: "For people: what goes where, or what is missing." }),
      estimate: Type.Object({
        weights_bytes: bytes("Of all weights, wherever they go."),
        kv_bytes: bytes("KV memory or recurrent state of the wanted context."),
        workspace_bytes: bytes("Compute and output buffers."),
        process_bytes: bytes("What an engine process takes beside them."),
        correction: Type.Number({ description: "By measured loads; 1 is the formula alone." }),
      }),
      placement: orNull(
        Type.Object({
          kind: OneOf(["gpu", "gpu_moe_cpu", "split", "cpu"]),
          gpu_layers: Type.Integer(),
          cpu_expert_layers: Type.Integer(),
          context_len: Type.Integer(),
          slots: Type.Integer(),
          devices: Type.Array(
            Type.Object({ name: Type.String(), layers: Type.Integer(), bytes: Type.Integer() }),
          ),
          host_bytes: bytes("Booked on the host, mapped weights included."),
          transfer_ms: orNull(
            Type.Number(),
            "To move the weights; null where no speed is measured.",
          ),
        }),
        "Null when it does not fit.",
      ),
      victims: Type.Array(
        Type.Object({
          model: Type.String(),
          to_tier: MemoryTier,
          reason: OneOf(EVICTION_REASONS),
          reload_ms: Type.Number({ description: "To have it back." }),
        }),
        { description: "Idle models that would go for it." },
      ),
    },
    { $id: "LoadPlan" },
  ),
);
export type LoadPlan = Static<typeof LoadPlan>;

/** Where the model is now; with `estimate_only` also how it would be loaded. */
export const TierMoved = Schema(
  Type.Object(
    { model: Type.String(), placement: Placement, plan: Type.Optional(LoadPlan) },
    { $id: "TierMoved" },
  ),
);
export type TierMoved = Static<typeof TierMoved>;
