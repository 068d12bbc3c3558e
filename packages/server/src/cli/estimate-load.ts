import type { LoadEstimate } from "../load-estimate.js";
import { createLog } from "../observe/index.js";
import { EXIT } from "./failure.js";
import type { Io } from "./io.js";
import { planText } from "./plan-text.js";
import { memoryText } from "./quantities.js";
import { type CommonOptions, loadSettings, serverEnvironment } from "./settings.js";

interface EstimateOptions extends CommonOptions {
  ctx?: number;
  slots?: number;
  /** Bytes. */
  gpu?: number;
  ram?: number;
  json?: boolean;
}

/** `somnus estimate MODEL`: how a server that has loaded nothing would load it here, or on a made-up machine. */
export async function estimate(
  io: Io,
  options: EstimateOptions,
  [model]: string[],
): Promise<number> {
  const values = {
    ...(options.gpu === undefined ? {} : { "hardware.simulate.vram_bytes": options.gpu }),
    ...(options.ram === undefined ? {} : { "hardware.simulate.ram_bytes": options.ram }),
  };
  const names = { "hardware.simulate.vram_bytes": "--gpu", "hardware.simulate.ram_bytes": "--ram" };
  const { config } = await loadSettings(io, options, { values, names });
  const { estimateLoad } = await import("../load-estimate.js");
  const found = await estimateLoad({
    config,
    env: serverEnvironment(io.env),
    model: model!,
    cwd: io.cwd,
    contextTokens: options.ctx ?? null,
    slots: options.slots ?? null,
    log: createLog("silent"),
    signal: new AbortController().signal,
  });
  if (options.json) io.out.json(found);
  else io.out.line(estimateText(found));
  return found.plan.fits ? EXIT.ok : EXIT.failure;
}

function estimateText({ model, plan, machine, engine }: LoadEstimate): string {
  const free = [...machine.devices, { ...machine.host, name: "host memory" }].map(
    ({ name, free_bytes: bytes }) => `${memoryText(bytes)} of ${name}`,
  );
  const lines = [
    planText(model, plan),
    `  machine:         ${machine.name}${machine.simulated ? " (simulated)" : ""}`,
    `  free for models: ${free.join(", ")}`,
    `  engine:          ${engine ?? "none yet; what it will compute with is assumed"}`,
  ];
  for (const problem of machine.problems) lines.push(`  problem:         ${problem}`);
  return lines.join("\n");
}
