import { createArtifacts } from "../artifacts/index.js";
import { type Config, enginesFolder } from "../config/index.js";
import { createProvisioning, type Provisioning } from "../engines/provisioning/index.js";
import { createLog } from "../observe/index.js";

/** The provisioning of engines as the server would do it, silent. */
export function openProvisioning(config: Config, env: NodeJS.ProcessEnv): Provisioning {
  const { path, source_build } = config.engines.llama;
  return createProvisioning({
    cacheDir: enginesFolder(config),
    sourceBuild: source_build,
    env,
    artifacts: createArtifacts({ env }),
    log: createLog("silent"),
    ...(path === undefined ? {} : { configuredPath: path }),
  });
}
