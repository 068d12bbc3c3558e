import type { Model } from "@somnus/client";
import { type ConnectionOptions, connect, reach } from "./connection.js";
import { EXIT } from "./failure.js";
import type { Io } from "./io.js";
import { tableLines } from "./layout.js";
import { bytesText } from "./quantities.js";

/** `somnus ps`: the models that are loaded on the running server. */
export async function ps(io: Io, options: ConnectionOptions & { json?: boolean }): Promise<number> {
  const connection = await connect(io, options);
  const models = await reach(connection, connection.client.models.list());
  const loaded = models.filter((model) => model.resident);
  const { out } = io;
  if (options.json) {
    out.json(loaded);
    return EXIT.ok;
  }
  if (loaded.length === 0) {
    out.line("No model is loaded; the first request for one loads it.");
    return EXIT.ok;
  }
  const rows = loaded.map((model) => [
    model.id,
    model.current_tier.replace(/^tier(\d)_.*/, "$1"),
    `${model.placement.allocated_context_len}`,
    `${model.active_leases}`,
    placementText(model.placement),
  ]);
  const columns = [
    { title: "MODEL", paint: out.paint.bold, flexible: true },
    { title: "TIER" },
    { title: "CONTEXT", right: true },
    { title: "SLOTS USED", right: true },
    { title: "PLACEMENT", flexible: true },
  ];
  for (const line of tableLines(columns, rows, out.columns)) out.line(line);
  return EXIT.ok;
}

/** Where a model's layers are, in a few words. */
export function placementText(placement: Model["placement"]): string {
  const { gpu_layers, pinned_ram_layers, ssd_layers, cpu_expert_layers } = placement;
  const layers = gpu_layers + pinned_ram_layers + ssd_layers;
  if (gpu_layers === 0) return "processor";
  const experts = cpu_expert_layers > 0 ? `, experts of ${cpu_expert_layers} on the processor` : "";
  const bytes = placement.vram_weight_bytes + placement.vram_kv_and_workspace_bytes;
  const memory = bytes > 0 ? `, ${bytesText(bytes)}` : "";
  return `GPU ${gpu_layers} of ${layers} layers${memory}${experts}`;
}
