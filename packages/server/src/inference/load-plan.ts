import type { LoadPlan } from "@somnus/contract";
import { SomnusError } from "../http/index.js";
import type { Preview, Schedulable } from "../scheduling/index.js";
import { sum } from "./placement.js";

/**
 * How a model would be loaded now, without doing anything.
 * @throws SomnusError invalid_request for a context that it does not have; staging before memory was measured
 */
export function planOf(
  scheduler: { preview(model: Pick<Schedulable, "terms">, context: number | null): Preview | null },
  model: Pick<Schedulable, "terms">,
  contextTokens: number | null,
): LoadPlan {
  const { id, maxContextTokens: most } = model.terms;
  if (contextTokens !== null && contextTokens > most) {
    const message = `${id} has a context of ${most} tokens at most, not ${contextTokens}.`;
    throw new SomnusError("invalid_request", message, { param: "context_len" });
  }
  const found = scheduler.preview(model, contextTokens);
  if (found === null) {
    throw new SomnusError("staging", "The machine's memory is not measured yet.");
  }
  const { plan, parts, budgets } = found;
  const common = {
    reason: plan.reason,
    estimate: {
      weights_bytes: Math.round(parts.weights),
      kv_bytes: Math.round(parts.kv),
      workspace_bytes: Math.round(parts.workspace),
      process_bytes: Math.round(parts.process),
      correction: parts.correction,
    },
  };
  if (!plan.accepted) return { ...common, fits: false, placement: null, victims: [] };
  const { placement, victims, cost } = plan;
  return {
    ...common,
    fits: true,
    placement: {
      kind: placement.kind,
      gpu_layers: sum(placement.layersOnDevice),
      cpu_expert_layers: placement.cpuExpertLayers,
      context_len: placement.contextTokens,
      slots: placement.slots,
      devices: placement.deviceBytes.map((bytes, at) => ({
        name: budgets.devices[at]?.name ?? "",
        layers: placement.layersOnDevice[at] ?? 0,
        bytes: Math.round(bytes),
      })),
      host_bytes: Math.round(placement.hostBytes),
      transfer_ms: cost.transferMs,
    },
    victims: victims.map(({ model: victim, toTier, reason, reloadMs }) => ({
      model: victim,
      to_tier: toTier,
      reason,
      reload_ms: reloadMs,
    })),
  };
}
