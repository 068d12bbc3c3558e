import { createArtifacts } from "../artifacts/index.js";
import { type Config, enginesFolder } from "../config/index.js";
import { createProvisioning, type Provisioning } from "../engines/provisioning/index.js";
import { createLog, type Logger } from "../observe/index.js";

/** The provisioning of engines as the server would do it; silent unless a log is given. */
export function openProvisioning(
  config: Config,
  env: NodeJS.ProcessEnv,
  log: Logger = createLog("silent"),
): Provisioning {
  const { path, source_build, release_build, release_url } = config.engines.llama;
  return createProvisioning({
    cacheDir: enginesFolder(config),
    sourceBuild: source_build,
    releaseBuild: release_build,
    env,
    artifacts: createArtifacts({ env }),
    log,
    ...(release_url === undefined ? {} : { releaseUrl: release_url }),
    ...(path === undefined ? {} : { configuredPath: path }),
  });
}
