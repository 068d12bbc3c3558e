import { cpus } from "node:os";
import { physicalCores, readCpus, type SystemFiles } from "../../processes/index.js";
import type { Machine } from "../machine.js";

/** What of the processor does not change while we run. */
export type ProcessorFacts = Omit<Machine["processor"], "coreLimit">;

export interface ProcessorSources {
  files: SystemFiles;
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
}

/** Cores and name of the processor, as far as this process may use it. */
export async function readProcessor(sources: ProcessorSources): Promise<ProcessorFacts> {
  const usable = await readCpus(sources);
  return {
    model: await modelName(sources),
    physicalCores: physicalCores(usable) ?? usable.length,
    logicalCores: usable.length,
  };
}

async function modelName({ files, platform }: ProcessorSources): Promise<string | null> {
  if (platform !== "linux") return known(cpus()[0]?.model);
  const cpuinfo = (await files.text("/proc/cpuinfo")) ?? "";
  const board = await files.text("/proc/device-tree/model");
  return known(/^model name\s*:(.*)$/m.exec(cpuinfo)?.[1]) ?? known(board?.replaceAll("\0", ""));
}

function known(name: string | undefined): string | null {
  const told = name?.trim() ?? "";
  return told === "" || told === "unknown" ? null : told;
}
