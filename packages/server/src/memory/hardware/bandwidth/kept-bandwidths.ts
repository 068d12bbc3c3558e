import { readJson, replaceJson } from "../../../files/index.js";

/** What was measured of one machine's disk and memory, bytes a second; null what could not be. */
export interface KeptBandwidths {
  diskToHost: number | null;
  host: number | null;
  /** Milliseconds since 1970. */
  measuredAt: number;
}

const FILE_VERSION = 1;
/** A cache folder may be shared by many machines, but not by endless ones. */
const MAX_KEPT = 100;

/** What is kept under a key; null where there is nothing, or nothing that can be read. */
export async function readKept(file: string, key: string): Promise<KeptBandwidths | null> {
  return (await readAll(file))[key] ?? null;
}

/**
 * Keeps a measurement beside those of other keys. The file is replaced whole.
 * @throws the system's error when it cannot be written
 */
export async function writeKept(file: string, key: string, kept: KeptBandwidths): Promise<void> {
  const others = Object.entries(await readAll(file)).filter(([name]) => name !== key);
  const newest = others.sort(([, a], [, b]) => b.measuredAt - a.measuredAt).slice(0, MAX_KEPT - 1);
  const content = {
    version: FILE_VERSION,
    machines: { [key]: kept, ...Object.fromEntries(newest) },
  };
  await replaceJson(file, content);
}

async function readAll(file: string): Promise<Record<string, KeptBandwidths>> {
  const content = await readJson(file);
  if (!isRecord(content) || content.version !== FILE_VERSION || !isRecord(content.machines))
    return {};
  return Object.fromEntries(
    Object.entries(content.machines).filter((entry): entry is [string, KeptBandwidths] =>
      isKept(entry[1]),
    ),
  );
}

function isKept(value: unknown): value is KeptBandwidths {
  if (!isRecord(value) || typeof value.measuredAt !== "number") return false;
  return [value.diskToHost, value.host].every(
    (speed) => speed === null || (typeof speed === "number" && speed > 0),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
