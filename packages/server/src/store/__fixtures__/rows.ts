import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Row, StoreLog } from "../index.js";

/** A load that took `ms`, at that moment too. */
export function load(ms: number, more: Partial<Row<"model_loads">> = {}): Row<"model_loads"> {
  return { model: "m", fromTier: "tier3_nvme_ssd", ms, bytes: 1000, at: ms, ...more };
}

/** A measurement of one model's memory. */
export function correction(
  more: Partial<Omit<Row<"memory_corrections">, "loads">> = {},
): Omit<Row<"memory_corrections">, "loads"> {
  return {
    modelDigest: "sha256:1",
    engineBuild: "b1",
    settings: "ctx=8192",
    estimated: { weights: 100, kv: 50 },
    measured: { weights: 101, kv: null },
    at: 1,
    ...more,
  };
}

/** A log that keeps what it was told, by level. */
export function keptLog(): StoreLog & { readonly said: [string, string, object][] } {
  const said: [string, string, object][] = [];
  const at = (level: string) => (fields: object, message: string) => {
    said.push([level, message, fields]);
  };
  return { said, info: at("info"), warn: at("warn"), error: at("error") };
}

/** A folder that is removed after the test. */
export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "somnus-store-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}
