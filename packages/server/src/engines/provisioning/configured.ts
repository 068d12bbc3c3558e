import type { Config } from "../../config/index.js";
import type { ProvisioningOptions } from "./way.js";

/** What `engines.llama` says of where its program may come from. */
export function configuredOrigins({
  path,
  source_build,
  release_build,
  release_url,
}: Config["engines"]["llama"]): Pick<
  ProvisioningOptions,
  "configuredPath" | "sourceBuild" | "releaseBuild" | "releaseUrl"
> {
  return {
    sourceBuild: source_build,
    releaseBuild: release_build,
    ...(release_url === undefined ? {} : { releaseUrl: release_url }),
    ...(path === undefined ? {} : { configuredPath: path }),
  };
}
