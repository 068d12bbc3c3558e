import type { MemoryModel, Model } from "@somnus/client";
import { type ConnectionOptions, connect, reach } from "./connection.js";
import { EXIT } from "./failure.js";
import type { Io } from "./io.js";
import { tableLines } from "./layout.js";
import { bytesText, durationText } from "./quantities.js";

/** `somnus ps`: the models that the running server has loaded or keeps in memory, loads, or is asked for. */
export async function ps(io: Io, options: ConnectionOptions & { json?: boolean }): Promise<number> {
  const connection = await connect(io, options);
  const status = await reach(connection, connection.client.memory.status());
  const active = status.models.filter(
    (row) => row.state !== "unloaded" || row.queued_requests > 0 || row.kept_weights !== null,
  );
  const { out } = io;
  if (options.json) {
    out.json(active);
    return EXIT.ok;
  }
  if (active.length === 0) {
    out.line("No model is loaded; the first request for one loads it.");
    return EXIT.ok;
  }
  const rows = active.map((row) => [
    row.id,
    row.current_tier.replace(/^tier(\d)_.*/, "$1"),
    memoryText(row),
    row.state === "ready" ? `${row.placement.allocated_context_len}` : "-",
    `${row.active_leases}`,
    `${row.queued_requests}`,
    row.estimated_wait_ms === null ? "-" : durationText(row.estimated_wait_ms / 1_000),
    stateText(row),
  ]);
  const columns = [
    { title: "MODEL", paint: out.paint.bold, flexible: true },
    { title: "TIER" },
    { title: "MEMORY", right: true },
    { title: "CONTEXT", right: true },
    { title: "LEASES", right: true },
    { title: "QUEUE", right: true },
    { title: "WAIT", right: true },
    { title: "PLACEMENT", flexible: true },
  ];
  for (const line of tableLines(columns, rows, out.columns)) out.line(line);
  if (out.isTerminal) {
    const { usable_vram_budget_bytes: budget } = status.capabilities;
    const booked = `${bytesText(status.tier1_vram_used_bytes)} of ${bytesText(budget)} booked`;
    const free = `${bytesText(status.tier1_vram_effective_free_bytes)} can be had now`;
    out.line(out.paint.dim(`\n${booked}, ${free}.`));
  }
  return EXIT.ok;
}

/** What becomes of a model, or where it is when it is loaded. */
function stateText(row: MemoryModel): string {
  if (row.state === "ready")
    return `${placementText(row.placement)}${row.pinned ? ", pinned" : ""}`;
  if (row.state !== "unloaded") return row.state;
  if (row.queued_requests > 0) {
    return row.waits_for_memory ? "waits for memory" : "waits to be loaded";
  }
  return row.kept_weights === null ? "waits to be loaded" : keptText(row.kept_weights);
}

/** What becomes of the weights of a model that is not loaded. */
function keptText({
  state,
  locked_bytes,
  booked_bytes,
}: NonNullable<MemoryModel["kept_weights"]>): string {
  switch (state) {
    case "coming":
    case "restoring":
      return "weights are being read";
    case "leaving":
      return "weights leave memory";
    case "kept":
      return (locked_bytes ?? 0) < booked_bytes ? "weights in memory" : "weights locked in memory";
  }
}

function memoryText({ booked_bytes, kept_weights, state }: MemoryModel): string {
  const bytes = state === "unloaded" ? (kept_weights?.booked_bytes ?? 0) : booked_bytes;
  return bytes > 0 ? bytesText(bytes) : "-";
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
