import { VERSION } from "../version.js";
import { EXIT } from "./failure.js";
import type { Io } from "./io.js";
import { type CommonOptions, loadSettings, serverEnvironment } from "./settings.js";

/** `somnus version` */
export async function version(
  io: Io,
  options: CommonOptions & { json?: boolean },
): Promise<number> {
  if (!options.json) {
    io.out.line(`somnus ${VERSION}`);
    return EXIT.ok;
  }
  const engine = await newestEngine(io, options).catch(() => null);
  io.out.json({
    version: VERSION,
    node: process.versions.node,
    platform: process.platform,
    arch: process.arch,
    engine: engine && {
      version: engine.version,
      build: engine.build,
      origin: engine.origin,
      path: engine.path,
    },
  });
  return EXIT.ok;
}

/** The newest engine that was accepted at some time; null when none is known. */
async function newestEngine(io: Io, options: CommonOptions) {
  const { config } = await loadSettings(io, options);
  const { openProvisioning } = await import("./engine-access.js");
  const [engine] = await openProvisioning(config, serverEnvironment(io.env)).installed();
  return engine ?? null;
}
