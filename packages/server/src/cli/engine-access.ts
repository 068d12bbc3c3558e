import { createArtifacts } from "../artifacts/index.js";
import { type Config, enginesFolder } from "../config/index.js";
import {
  configuredOrigins,
  createProvisioning,
  type Provisioning,
} from "../engines/provisioning/index.js";
import { createLog, type Logger } from "../observe/index.js";

/** The provisioning of engines as the server would do it; silent unless a log is given. */
export function openProvisioning(
  config: Config,
  env: NodeJS.ProcessEnv,
  log: Logger = createLog("silent"),
): Provisioning {
  return createProvisioning({
    cacheDir: enginesFolder(config),
    ...configuredOrigins(config.engines.llama),
    env,
    artifacts: createArtifacts({ env }),
    log,
  });
}
