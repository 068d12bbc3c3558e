import type { Config } from "../../config/index.js";
import { readControlGroup, SystemFiles } from "../../processes/index.js";
import type { Accelerator, Bandwidths, Device, HostMemory, Machine } from "../machine.js";
import type { GpuFindings, GpuReading } from "./accelerators.js";
import { readAmd } from "./amd.js";
import { type AppleFacts, appleGraphics, readAppleFacts } from "./apple.js";
import { hostMemoryOfNode, readHostMemory } from "./host-memory.js";
import { readNvidia } from "./nvidia.js";
import { type ProcessorFacts, readProcessor } from "./processor.js";
import { simulatedMachine } from "./simulate.js";

export interface MachineOptions {
  /** Where programs are looked for, and which devices may be seen. */
  env: NodeJS.ProcessEnv;
  config: Pick<Config, "hardware">;
  /** What an engine can compute with; absent: whatever there is. */
  accelerators?: readonly Accelerator[];
  /** As last measured; absent: not measured. Asked at every reading. */
  bandwidths?: () => Bandwidths;
  files?: SystemFiles;
  platform?: NodeJS.Platform;
  arch?: string;
  /** Longest wait for one program, ms. A driver that is not kept loaded takes seconds to start. */
  timeoutMs?: number;
  /** Where nvidia-smi may be beside the search path; absent: the usual places. */
  nvidiaSmiPlaces?: readonly string[];
}

/** Reads the machine. @throws the signal's reason when it fires */
export type MachineReader = (signal: AbortSignal) => Promise<Machine>;

const TIMEOUT_MS = 10_000;
/** What is used when there is more than one: the fastest first. */
const PREFERENCE: readonly Accelerator[] = ["NvidiaCuda", "AmdRocm", "AppleMetal", "Vulkan"];
const UNMEASURED: Bandwidths = { diskToHost: null, hostToDevice: null, host: null };

/** What a system tells of itself beside its processor. */
interface Readings {
  host: HostMemory;
  coreLimit: number | null;
  groups: GpuFindings[];
}

/**
 * What the machine has and what of it may be used, now. What cannot be read is null, or missing with a
 * line in `problems`: a driver that fails is no reason not to serve.
 * @throws the signal's reason when it fires
 */
export function readMachine(options: MachineOptions & { signal: AbortSignal }): Promise<Machine> {
  return machineReader(options)(options.signal);
}

/**
 * Reads the same machine again and again; what cannot change is read once. A device whose driver does
 * not answer now is still there, with unknown free memory.
 */
export function machineReader(options: MachineOptions): MachineReader {
  const { config, env, files = new SystemFiles(), platform = process.platform } = options;
  let processor: Promise<ProcessorFacts> | null = null;
  let known: GpuFindings[] = [];
  return async (signal) => {
    signal.throwIfAborted();
    processor ??= readProcessor({ files, platform, env });
    const [facts, readings] = await Promise.all([
      processor,
      readSystem({ ...options, files, platform }, signal),
    ]);
    signal.throwIfAborted();
    const groups = readings.groups.map((group, i) => orAsKnown(group, known[i]));
    known = groups;
    const machine = assemble(facts, { ...readings, groups }, options);
    const { simulate } = config.hardware;
    return simulate === undefined ? machine : simulatedMachine(machine, simulate);
  };
}

async function readSystem(
  options: MachineOptions & { files: SystemFiles; platform: NodeJS.Platform },
  signal: AbortSignal,
): Promise<Readings> {
  const { env, files, platform, arch = process.arch, timeoutMs = TIMEOUT_MS } = options;
  const wanted = (...any: Accelerator[]) =>
    options.accelerators === undefined || any.some((one) => options.accelerators?.includes(one));
  const { nvidiaSmiPlaces: places } = options;
  const asking = { env, signal, platform, timeoutMs, ...(places && { places }) };
  if (platform === "linux") {
    const group = await readControlGroup(files);
    const [host, ...groups] = await Promise.all([
      readHostMemory(files, group),
      ...(wanted("NvidiaCuda", "Vulkan") ? [readNvidia(asking)] : []),
      ...(wanted("AmdRocm", "Vulkan") ? [readAmd(files, env)] : []),
    ]);
    return { host, coreLimit: group.processors, groups };
  }
  if (platform === "darwin") {
    const facts = await readAppleFacts(asking);
    const groups = arch === "arm64" && wanted("AppleMetal") ? [appleGraphics(facts)] : [];
    return { host: appleHost(facts), coreLimit: null, groups };
  }
  const groups = wanted("NvidiaCuda", "Vulkan") ? [await readNvidia(asking)] : [];
  return { host: hostMemoryOfNode(), coreLimit: null, groups };
}

/** A driver that fails for a moment must not make a machine with a card one without. */
function orAsKnown(now: GpuFindings, before: GpuFindings | undefined): GpuFindings {
  if (now.gpus.length > 0 || now.problems.length === 0 || before === undefined) return now;
  const gpus = before.gpus.map((gpu) => ({ ...gpu, freeBytes: null }));
  return { accelerators: before.accelerators, gpus, problems: now.problems };
}

function appleHost({ totalBytes, availableBytes, lockableBytes }: AppleFacts): HostMemory {
  const host = hostMemoryOfNode();
  return { ...host, totalBytes: totalBytes ?? host.totalBytes, availableBytes, lockableBytes };
}

function assemble(
  processor: ProcessorFacts,
  { host, coreLimit, groups }: Readings,
  { accelerators = PREFERENCE, bandwidths = () => UNMEASURED }: MachineOptions,
): Machine {
  const usable = groups.filter(({ gpus }) => gpus.length > 0);
  const supports = (one: Accelerator) => usable.filter((group) => group.accelerators.includes(one));
  const accelerator = PREFERENCE.find(
    (one) => accelerators.includes(one) && supports(one).length > 0,
  );
  const problems = groups.flatMap((group) => group.problems);
  const common = {
    simulated: false,
    host,
    processor: { ...processor, coreLimit },
    measuredAt: Date.now(),
    ...(problems.length === 0 ? {} : { problems }),
  };
  if (accelerator === undefined) {
    return {
      ...common,
      accelerator: "Cpu",
      topology: "UnifiedMemory",
      name: processor.model ?? process.arch,
      devices: [],
      bandwidths: bandwidths(),
    };
  }
  const gpus = chosen(
    supports(accelerator).flatMap((group) => group.gpus),
    accelerator,
  );
  const unified = gpus.every((gpu) => gpu.unified);
  const measured = bandwidths();
  return {
    ...common,
    accelerator,
    topology: unified ? "UnifiedMemory" : "DiscretePcie",
    name: nameOf(gpus),
    devices: gpus.map((gpu) => deviceOf(gpu, host)),
    // Between a memory and itself the way is as fast as the memory.
    bandwidths: unified ? { ...measured, hostToDevice: measured.host } : measured,
  };
}

/** Beside cards, a graphics unit inside of the processor only slows them down. */
function chosen(gpus: readonly GpuReading[], accelerator: Accelerator): GpuReading[] {
  const counted =
    accelerator === "Vulkan" ? gpus.map((gpu, index) => ({ ...gpu, index })) : [...gpus];
  const cards = counted.filter((gpu) => !gpu.unified);
  return cards.length > 0 ? cards : counted;
}

function deviceOf({ index, name, totalBytes, freeBytes }: GpuReading, host: HostMemory): Device {
  return { index, name, totalBytes: totalBytes ?? host.totalBytes, freeBytes };
}

/** "2 x NVIDIA A100" for several of a kind. */
function nameOf(gpus: readonly GpuReading[]): string {
  const names = [...new Set(gpus.map((gpu) => gpu.name))];
  const [only = ""] = names;
  if (names.length > 1) return names.join(", ");
  return gpus.length > 1 ? `${gpus.length} x ${only}` : only;
}
