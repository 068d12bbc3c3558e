import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { arch, cpus, platform } from "node:os";
import { runProgram } from "./run-program.js";

/**
 * Twelve hex digits that differ between processors with different instruction sets. A program
 * compiled for one of them may end with an illegal instruction on another.
 */
export async function processorKey(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  const features = await readFeatures(env, signal);
  return hashOf([platform(), arch(), ...features]);
}

/** Feature names of a `/proc/cpuinfo` text: `flags` on x86, `Features` on ARM; sorted, each once. */
export function featuresOfCpuinfo(cpuinfo: string): string[] {
  const names = /^(?:flags|Features)\s*:\s*(.*)$/m.exec(cpuinfo)?.[1] ?? "";
  return [...new Set(names.split(/\s+/).filter((name) => name !== ""))].sort();
}

/** First twelve hex digits of the SHA-256 of a list of texts. */
export function hashOf(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 12);
}

async function readFeatures(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string[]> {
  if (platform() === "linux") {
    const features = featuresOfCpuinfo(await readFile("/proc/cpuinfo", "utf8").catch(() => ""));
    if (features.length > 0) return features;
  }
  if (platform() === "darwin") {
    const names = ["machdep.cpu.brand_string", "hw.optional"];
    try {
      const options = { cwd: "/", env, signal, timeoutMs: 5_000 };
      const { stdout } = await runProgram("/usr/sbin/sysctl", names, options);
      const lines = stdout.split("\n").filter((line) => line !== "");
      if (lines.length > 0) return lines.sort();
    } catch {
      signal.throwIfAborted();
    }
  }
  return [cpus()[0]?.model ?? "unknown"];
}
