import type { TierMove, TierMoved } from "@somnus/client";
import { type ConnectionOptions, connect, reach } from "./connection.js";
import { EXIT } from "./failure.js";
import type { Io } from "./io.js";
import { placementText } from "./ps.js";

interface MoveOptions extends ConnectionOptions {
  json?: boolean;
}

/** `somnus load ID`: waits until the running server has loaded a model. */
export function load(
  io: Io,
  options: MoveOptions & { ctx?: number },
  [model]: string[],
): Promise<number> {
  const context = options.ctx === undefined ? {} : { context_len: options.ctx };
  return move(
    io,
    options,
    { model: model!, target_tier: "tier1_gpu_vram", ...context },
    ({ model: id, placement }) =>
      `${id} is loaded: ${placement.allocated_context_len} tokens of context, ${placementText(placement)}.`,
  );
}

/** `somnus unload ID`: waits until a model has left the running server's memory. */
export function unload(io: Io, options: MoveOptions, [model]: string[]): Promise<number> {
  return move(
    io,
    options,
    { model: model!, target_tier: "tier3_nvme_ssd" },
    ({ model: id }) => `${id} is unloaded.`,
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
