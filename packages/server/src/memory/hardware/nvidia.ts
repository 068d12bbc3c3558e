import { access } from "node:fs/promises";
import { findProgram } from "../../processes/index.js";
import { type GpuFindings, type GpuReading, NOTHING } from "./accelerators.js";
import { type Answer, askProgram } from "./ask-program.js";
import { type MigInstance, migPlace, parseMigInstances } from "./nvidia-mig.js";
import { visibleOnly } from "./visible-devices.js";

export interface NvidiaOptions {
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  platform: NodeJS.Platform;
  timeoutMs: number;
  /** Where nvidia-smi may be when it is not on the search path. */
  places?: readonly string[];
}

/** One graphics processor as nvidia-smi lists it, before the environment chooses among them. */
export interface NvidiaRow {
  uuid: string;
  name: string;
  totalBytes: number | null;
  freeBytes: number | null;
  /** Whether it is split into instances (Multi-Instance GPU). */
  split: boolean;
}

/** What nvidia-smi ends with when it does not know an argument. */
const BAD_ARGUMENT = 2;
/** What it ends with when there is no device. */
const NO_DEVICES = 6;
const MiB = 2 ** 20;
const FIELDS = ["index", "uuid", "memory.total", "memory.free", "mig.mode.current", "name"];
/** Drivers before 450 know no split devices. */
const OLD_FIELDS = FIELDS.filter((field) => field !== "mig.mode.current");
/** Where it usually is; the search path of a service may not lead there. */
const USUAL_PLACES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ["/usr/bin/nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi"],
  win32: [
    "C:\\Windows\\System32\\nvidia-smi.exe",
    "C:\\Program Files\\NVIDIA Corporation\\NVSMI\\nvidia-smi.exe",
  ],
};

/**
 * NVIDIA's graphics processors through nvidia-smi (https://docs.nvidia.com/deploy/nvidia-smi/), in the
 * order of their bus addresses, as far as CUDA_VISIBLE_DEVICES leaves them. CUDA counts in the same
 * order with CUDA_DEVICE_ORDER=PCI_BUS_ID; without it the fastest comes first.
 * @throws the signal's reason when it fires
 */
export async function readNvidia(options: NvidiaOptions): Promise<GpuFindings> {
  const program = await findNvidiaSmi(options);
  if (program === null) return NOTHING;
  const found = (gpus: GpuReading[], problems: string[]): GpuFindings => ({
    accelerators: ["NvidiaCuda", "Vulkan"],
    gpus,
    problems,
  });

  const listed = await query(program, options);
  if (typeof listed === "string") return found([], [listed]);
  const { rows, problems } = listed;
  const { visible, named } = visibleOnly(
    options.env.CUDA_VISIBLE_DEVICES,
    rows,
    ({ uuid }) => uuid,
  );

  const instances = rows.some((row) => row.split) ? await askForInstances(program, options) : null;
  const gpus: GpuReading[] = [];
  const take = (row: NvidiaRow, instance?: MigInstance) =>
    gpus.push({
      index: gpus.length,
      name: instance === undefined ? row.name : `${row.name} (MIG)`,
      totalBytes: instance?.totalBytes ?? row.totalBytes,
      freeBytes: instance === undefined ? row.freeBytes : instance.freeBytes,
      unified: instance === undefined && row.totalBytes === null,
    });
  for (const row of visible) {
    if (!row.split) take(row);
    else {
      // CUDA sees the first instance of a split device and no more, unless one is named.
      const first = instances?.get(row.uuid)?.[0];
      if (first !== undefined) take(row, first);
      else problems.push(`${row.name} is in MIG mode and has no instance that can be used.`);
    }
  }
  const mig = named.find((name) => name.startsWith("MIG-"));
  if (mig !== undefined && gpus.length === 0) {
    const listing = await askProgram(program, ["-L"], options);
    const place = listing.kind === "ended" ? migPlace(listing.stdout, mig) : null;
    const row = rows.find(({ uuid }) => uuid === place?.uuid);
    const instance = place && instances?.get(place.uuid)?.[place.device];
    if (row && instance) take(row, instance);
    else problems.push(`CUDA_VISIBLE_DEVICES names ${mig}, which nvidia-smi does not list.`);
  }
  return found(gpus, problems);
}

/** The rows of a listing with these fields; what is no row becomes a problem. */
function parseRows(
  listing: string,
  fields: readonly string[],
): { rows: NvidiaRow[]; problems: string[] } {
  const rows: NvidiaRow[] = [];
  const problems: string[] = [];
  for (const line of listing.split(/\r?\n/)) {
    if (line.trim() === "") continue;
    const values = line.split(",").map((value) => value.trim());
    const value = (field: string) => values[fields.indexOf(field)] ?? "";
    const name = values.slice(fields.indexOf("name")).join(", ");
    if (values.length < fields.length || !/^\d+$/.test(value("index"))) {
      problems.push(`nvidia-smi: ${firstLine(line)}`);
      continue;
    }
    const [total, free] = [value("memory.total"), value("memory.free")].map(readMemory);
    const split = value("mig.mode.current") === "Enabled";
    // A container that was given an instance may not see the whole card's memory.
    if (!split && (total === undefined || free === undefined)) {
      problems.push(`${name}: its memory cannot be read (${value("memory.total")}).`);
      continue;
    }
    rows.push({
      uuid: value("uuid"),
      name,
      totalBytes: total ?? null,
      freeBytes: free ?? null,
      split,
    });
  }
  return { rows, problems };
}

/** Bytes; null where the device has no memory of its own (Grace Blackwell, Jetson); undefined when broken. */
function readMemory(text: string): number | null | undefined {
  if (/^\d+$/.test(text)) return Number(text) * MiB;
  return /^\[?(?:N\/A|Not Supported)\]?$/i.test(text) ? null : undefined;
}

async function query(
  program: string,
  options: NvidiaOptions,
): Promise<{ rows: NvidiaRow[]; problems: string[] } | string> {
  for (const fields of [FIELDS, OLD_FIELDS]) {
    const args = [`--query-gpu=${fields.join(",")}`, "--format=csv,noheader,nounits"];
    const answer = await askProgram(program, args, options);
    if (answer.kind === "ended" && answer.code === BAD_ARGUMENT && fields === FIELDS) continue;
    if (answer.kind === "ended" && answer.code === NO_DEVICES) return { rows: [], problems: [] };
    if (answer.kind === "ended") {
      const listed = parseRows(answer.stdout, fields);
      // One lost card makes it fail, though it lists the others.
      if (answer.code === 0 || listed.rows.length > 0) return listed;
    }
    return troubleOf(answer);
  }
  return "nvidia-smi does not know the fields that it is asked for.";
}

/** What is wrong with an answer that lists nothing, for people. */
function troubleOf(answer: Answer): string {
  if (answer.kind === "slow") {
    return "nvidia-smi does not answer; its driver may be stuck. Restart the machine if it stays so.";
  }
  if (answer.kind === "failed") return `nvidia-smi cannot be started: ${answer.message}.`;
  const said = firstLine(answer.stdout) || firstLine(answer.stderr);
  return `nvidia-smi ended with ${answer.code ?? "a signal"}${said === "" ? "" : `: ${said}`}`;
}

function firstLine(text: string): string {
  return (text.trim().split(/\r?\n/)[0] ?? "").slice(0, 200);
}

async function askForInstances(
  program: string,
  options: NvidiaOptions,
): Promise<Map<string, MigInstance[]> | null> {
  const answer = await askProgram(program, ["-q", "-x"], options);
  return answer.kind === "ended" && answer.code === 0 ? parseMigInstances(answer.stdout) : null;
}

/** Where nvidia-smi is; null without one. */
export async function findNvidiaSmi(
  options: Pick<NvidiaOptions, "env" | "platform" | "places">,
): Promise<string | null> {
  const { env, platform, places = USUAL_PLACES[platform] ?? [] } = options;
  const onPath = await findProgram("nvidia-smi", env);
  if (onPath !== null) return onPath;
  for (const path of places) {
    const there = await access(path).then(
      () => true,
      () => false,
    );
    if (there) return path;
  }
  return null;
}
