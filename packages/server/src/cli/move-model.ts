import type { TierMove, TierMoved } from "@somnus/client";
import { type ConnectionOptions, connect, reach } from "./connection.js";
import { EXIT } from "./failure.js";
import type { Io } from "./io.js";
import { planText } from "./plan-text.js";
import { placementText } from "./ps.js";
import { bytesText } from "./quantities.js";

interface MoveOptions extends ConnectionOptions {
  json?: boolean;
}

/** `somnus load ID`: waits until the running server has loaded a model. */
export function load(
  io: Io,
  options: MoveOptions & { ctx?: number; weightsOnly?: boolean; estimateOnly?: boolean },
  [model]: string[],
): Promise<number> {
  if (options.weightsOnly) return keep(io, options, model!);
  const context = options.ctx === undefined ? {} : { context_len: options.ctx };
  if (options.estimateOnly) {
    const wanted = { target_tier: "tier1_gpu_vram", ...context, estimate_only: true } as const;
    return move(io, options, { model: model!, ...wanted }, ({ model: id, plan }) =>
      plan === undefined ? `The server cannot tell how ${id} would be loaded.` : planText(id, plan),
    );
  }
  return move(
    io,
    options,
    { model: model!, target_tier: "tier1_gpu_vram", ...context },
    ({ model: id, placement }) =>
      `${id} is loaded: ${placement.allocated_context_len} tokens of context, ${placementText(placement)}.`,
  );
}

/** `somnus unload ID`: waits until a model has left the running server's memory, or its weights alone are left there. */
export function unload(
  io: Io,
  options: MoveOptions & { keepWeights?: boolean },
  [model]: string[],
): Promise<number> {
  if (options.keepWeights) return keep(io, options, model!);
  return move(
    io,
    options,
    { model: model!, target_tier: "tier3_nvme_ssd" },
    ({ model: id }) => `${id} is unloaded.`,
  );
}

function keep(io: Io, options: MoveOptions, model: string): Promise<number> {
  return move(
    io,
    options,
    { model, target_tier: "tier2_pinned_ram" },
    ({ model: id, placement }) =>
      `${id} is not loaded, and ${bytesText(placement.pinned_ram_bytes)} of its weights are kept in memory.`,
  );
}

async function move(
  io: Io,
  options: MoveOptions,
  wanted: TierMove,
  told: (moved: TierMoved) => string,
): Promise<number> {
  const connection = await connect(io, options);
  const moved = await reach(connection, connection.client.memory.move(wanted));
  if (options.json) io.out.json(moved);
  else io.out.line(told(moved));
  return EXIT.ok;
}
