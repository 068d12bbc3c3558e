import {
  type LoadPlan,
  type MemoryModel,
  MemoryStatus,
  TierMove,
  TierMoved,
  type WaitEstimates,
} from "@somnus/contract";
import { defineRoute, jsonReply, type Route, SomnusError } from "../http/index.js";
import { engineFiles, type PoolModel } from "../models/index.js";
import type { ModelActivity, WaitAccuracy } from "../scheduling/index.js";
import { gpuOf } from "./gpu.js";
import { keptRow } from "./kept-row.js";
import { kvParkOf } from "./kv-park.js";
import { planOf } from "./load-plan.js";
import type { InferenceParts, MemoryReport } from "./parts.js";
import { placementOf, sum } from "./placement.js";
import { profileOf } from "./profile.js";
import type { Timing } from "./timed.js";

/** `GET /v1/memory/status` and `POST /v1/memory/tier` */
export function memoryRoutes(parts: InferenceParts, timing: Timing): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/memory/status",
      summary: "Show what each memory holds and what is left of it.",
      tags: ["memory"],
      replies: { 200: MemoryStatus },
      scope: "key",
      openWhileStaging: true,
      handler: async ({ signal }) => {
        const [report] = await Promise.all([parts.memory.report(signal), parts.pool.refresh()]);
        return jsonReply(statusOf(parts, report, timing));
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/memory/tier",
      summary: "Move a model to another tier.",
      description: "To tier 1 it lasts as long as the load, also while others have to make room.",
      tags: ["memory"],
      body: TierMove,
      replies: { 200: TierMoved },
      scope: "key",
      openWhileStaging: false,
      handler: async ({ body, signal }) => {
        const model = await parts.pool.resolve(body.model);
        const plan = body.estimate_only ? planFor(parts, model, body) : null;
        if (plan === null) await move(parts, model, body, signal);
        return jsonReply({
          model: model.id,
          placement: placementOf(model, parts.scheduler.activity(model.id)),
          ...(plan === null ? {} : { plan }),
        } satisfies TierMoved);
      },
    }),
  ];
}

function planFor(
  { scheduler, loadable }: InferenceParts,
  model: PoolModel,
  body: TierMove,
): LoadPlan {
  if (body.target_tier !== "tier1_gpu_vram") {
    throw new SomnusError("invalid_request", "estimate_only is for tier1_gpu_vram.", {
      param: "estimate_only",
    });
  }
  return planOf(scheduler, loadable(model), body.context_len ?? null);
}

function move(
  { scheduler, loadable }: InferenceParts,
  model: PoolModel,
  { target_tier: tier, context_len: context }: TierMove,
  signal: AbortSignal,
): Promise<void> {
  // On the way to tier 2 it is passed over: the contract's own example sends it.
  if (tier === "tier3_nvme_ssd" && context !== undefined && context !== null) {
    throw new SomnusError("invalid_request", `${tier} has no context; leave context_len out.`, {
      param: "context_len",
    });
  }
  switch (tier) {
    case "tier1_gpu_vram":
      return scheduler.preload(loadable(model), () => {}, signal, context ?? undefined);
    case "tier2_pinned_ram":
      return scheduler.keepWeights(loadable(model), signal);
    case "tier3_nvme_ssd":
      return scheduler.demote(model.id, signal);
  }
}

const GB = 1e9;

function statusOf(parts: InferenceParts, report: MemoryReport, timing: Timing): MemoryStatus {
  const profile = profileOf(parts.config);
  const { machine, figures, processes } = report;
  const { tier1 } = figures;
  const { tier2 } = report;
  const { hostToDevice, diskToHost } = machine.bandwidths;
  const { totalBytes, containerLimitBytes } = machine.host;
  return {
    capabilities: {
      accelerator: machine.accelerator,
      topology: machine.topology,
      device_name: machine.name,
      total_vram_bytes: tier1.totalBytes,
      usable_vram_budget_bytes: tier1.budgetBytes,
      pinned_ram_budget_bytes: figures.tier2.budgetBytes,
      physical_memory_bytes: Math.min(totalBytes, containerLimitBytes ?? totalBytes),
      simulated: machine.simulated,
      installed_memory_bytes: report.installedBytes,
      tier2_to_tier1_bandwidth_gbps: hostToDevice === null ? null : hostToDevice / GB,
      tier3_to_tier2_bandwidth_gbps: diskToHost === null ? null : diskToHost / GB,
    },
    tier1_vram_used_bytes: tier1.usedBytes,
    tier1_vram_free_bytes: tier1.freeBytes,
    tier1_vram_real_free_bytes: tier1.realFreeBytes,
    tier1_vram_real_total_bytes: tier1.realTotalBytes,
    tier1_vram_unaccounted_bytes: tier1.unaccountedBytes,
    tier1_vram_effective_free_bytes: tier1.effectiveFreeBytes,
    tier2_pinned_ram_used_bytes: tier2.usedBytes,
    tier2_pinned_ram_free_bytes: tier2.freeBytes,
    tier2_resident_bytes: tier2.residentBytes,
    tier2_locked_bytes: tier2.lockedBytes,
    physical_pool_free_bytes: figures.poolFreeBytes,
    process_footprint_bytes: processes?.footprintBytes ?? null,
    process_memory_bytes: processes?.residentBytes ?? null,
    process_memory_cap_bytes: report.capBytes,
    ...gpuOf(report.gpu),
    kv_park: kvParkOf(parts),
    models: parts.pool.list().map((model) => modelRow(parts, report, model)),
    recent_evictions: parts.scheduler.evictions().map((eviction) => ({
      model: eviction.model,
      for_model: eviction.forModel,
      reason: eviction.reason,
      to_tier: eviction.toTier,
      unix_ms: eviction.at,
    })),
    latency: timing.latency(),
    ...(profile === null ? {} : { profile }),
  };
}

function modelRow(parts: InferenceParts, report: MemoryReport, model: PoolModel): MemoryModel {
  const activity = parts.scheduler.activity(model.id);
  const { placement } = activity;
  const { gguf, projectorGguf } = model;
  const deviceBytes = placement?.deviceBytes ?? [];
  return {
    id: model.id,
    enabled: model.enabled,
    modality: model.modality,
    modalities: model.modalities,
    engine: model.engine,
    total_weight_bytes: gguf && gguf.tensorBytes + (projectorGguf?.tensorBytes ?? 0),
    priority: model.memory.priority,
    current_tier: activity.tier,
    state: activity.phase,
    placement: placementOf(model, activity),
    booked_bytes: sum(deviceBytes) + (placement?.hostBytes ?? 0),
    ...keptRow(activity, report.kept, engineFiles(model)),
    moe_offload: activity.moeOffload ?? model.memory.moeOffload,
    expert_bytes: gguf?.expertBytes ?? null,
    pinned: activity.pinned,
    active_leases: activity.activeLeases,
    queued_requests: activity.queued,
    waits_for_memory: activity.waitsForMemory,
    idle_seconds: activity.idleMs === null ? null : activity.idleMs / 1_000,
    total_requests_served: activity.served,
    requests_per_minute: activity.requestsPerMinute,
    reload_estimate_ms:
      gguf === null
        ? null
        : report.reloadEstimateMs({
            id: model.id,
            artifactBytes: gguf.tensorBytes,
            deviceBytes,
            measuredMs: warmer(model, activity) ? activity.warmReloadMs : activity.reloadMs,
          }),
    service_ms: activity.serviceMs,
    estimated_wait_ms: expectedWaitMs(parts, model),
    wait_estimates: waitEstimates(activity.waitAccuracy),
  };
}

function expectedWaitMs({ scheduler, loadable }: InferenceParts, model: PoolModel): number | null {
  // One that cannot be served is not waited for.
  if (!model.enabled || model.gguf === null || model.problem !== null) return null;
  return scheduler.expectedWaitMs(loadable(model));
}

function waitEstimates(accuracy: WaitAccuracy | null): WaitEstimates | null {
  return (
    accuracy && {
      count: accuracy.count,
      median_error_ms: accuracy.medianErrorMs,
      p90_error_ms: accuracy.p90ErrorMs,
      median_error_share: accuracy.medianErrorShare,
      p90_error_share: accuracy.p90ErrorShare,
    }
  );
}

/** Whether it comes back from tier 2, and how long that takes was measured. */
function warmer(model: PoolModel, { kept, warmReloadMs }: ModelActivity): boolean {
  return warmReloadMs !== null && (kept !== null || model.memory.keepWarm);
}
