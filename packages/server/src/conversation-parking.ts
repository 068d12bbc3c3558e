import type { Config } from "./config/index.js";
import { filesIdentity, ParkingFolder, whyNotParked as whyNotByFile } from "./memory/index.js";
import { engineFiles, type PoolModel } from "./models/index.js";
import type { Logger } from "./observe/index.js";

/** Where Linux has its memory-backed files. */
const SHARED_MEMORY = "/dev/shm";

/**
 * Makes the folder that engines write their slots into, in memory where there is room; null when none can be made.
 * @param folders on the way from the nearest to memory to the surest
 */
export async function openParkingFolder(
  folders: readonly string[],
  { hardware }: Pick<Config, "hardware">,
  log: Logger,
): Promise<ParkingFolder | null> {
  const first = process.platform === "linux" ? [SHARED_MEMORY] : [];
  try {
    const folder = await ParkingFolder.open([...first, ...folders]);
    const { path, inMemory, capacityBytes } = folder;
    log.debug({ path, inMemory, capacityBytes }, "conversations are parked here");
    if (hardware.kv_park && capacityBytes < hardware.kv_park_max_bytes) {
      log.warn(
        { capacityBytes, maxBytes: hardware.kv_park_max_bytes },
        "the place for parked conversations holds less than hardware.kv_park_max_bytes",
      );
    }
    return folder;
  } catch (error) {
    log.warn({ err: error }, "conversations cannot be parked: no folder can be made for them");
    return null;
  }
}

/** Why a model's conversations are not parked, for people; null when they can be, or nobody can tell yet. */
export function whyNotParked({ gguf }: PoolModel): string | null {
  return gguf === null ? null : whyNotByFile(gguf);
}

/** Gives what the saved slots of a model depend on; its engine's build is not part of it. */
export function parkingKeyOf(model: PoolModel): () => Promise<string> {
  const { plan } = model;
  return async () => {
    const files = await filesIdentity(engineFiles(model));
    return [files, plan.cacheTypeK ?? "", plan.cacheTypeV ?? ""].join("\n");
  };
}
