import type { LoadPlan } from "@somnus/client";
import { durationText, memoryText } from "./quantities.js";

/** How a model would be loaded, for a terminal. */
export function planText(id: string, plan: LoadPlan): string {
  const { estimate, placement, victims } = plan;
  const lines = [`${id} ${plan.fits ? "can be loaded" : "cannot be loaded"}: ${plan.reason}`];
  if (placement !== null) {
    lines.push(row("context", `${placement.context_len} tokens, ${placement.slots} slots`));
    for (const { name, layers, bytes } of placement.devices) {
      lines.push(row(name, `${memoryText(bytes)}, ${layers} layers`));
    }
    lines.push(row("host memory", memoryText(placement.host_bytes)));
  }
  lines.push(
    row("weights", memoryText(estimate.weights_bytes)),
    row("context memory", memoryText(estimate.kv_bytes)),
    row("workspace", memoryText(estimate.workspace_bytes)),
    row("process", memoryText(estimate.process_bytes)),
  );
  if (estimate.correction !== 1) {
    const percent = (estimate.correction - 1) * 100;
    lines.push(row("measured loads", `${percent < 0 ? "" : "+"}${percent.toFixed(1)} %`));
  }
  for (const { model, reload_ms: ms } of victims) {
    lines.push(row("would go", `${model} (${durationText(ms / 1_000)} to have it back)`));
  }
  return lines.join("\n");
}

function row(name: string, value: string): string {
  return `  ${`${name}:`.padEnd(17)}${value}`;
}
