import { findProgram } from "../../processes/index.js";
import { metalShareBytes } from "../metal-share.js";
import { type GpuFindings, NOTHING } from "./accelerators.js";
import { askProgram } from "./ask-program.js";

export interface AppleOptions {
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  timeoutMs: number;
}

/** What a Mac tells of its memory. Bytes; null where it does not. */
export interface AppleFacts {
  chip: string | null;
  totalBytes: number | null;
  availableBytes: number | null;
  /** The most that a user's processes may lock. */
  lockableBytes: number | null;
  /** A limit for the graphics unit that somebody has set; null while the system's own applies. */
  graphicsLimitBytes: number | null;
}

const MiB = 2 ** 20;
const NAMES = [
  "hw.memsize",
  "machdep.cpu.brand_string",
  "vm.user_wire_limit",
  "iogpu.wired_limit_mb",
];

/**
 * A Mac's memory through sysctl and vm_stat.
 * @throws the signal's reason when it fires
 */
export async function readAppleFacts(options: AppleOptions): Promise<AppleFacts> {
  const [settings, pages] = await Promise.all([
    printed("sysctl", "/usr/sbin/sysctl", NAMES, options),
    printed("vm_stat", "/usr/bin/vm_stat", [], options),
  ]);
  const setting = (name: string) =>
    new RegExp(`^${name.replaceAll(".", "\\.")}: (.+)$`, "m").exec(settings)?.[1]?.trim() ?? null;
  const number = (name: string) => {
    const told = setting(name);
    return told !== null && /^\d+$/.test(told) ? Number(told) : null;
  };
  const limit = number("iogpu.wired_limit_mb");
  return {
    chip: setting("machdep.cpu.brand_string"),
    totalBytes: number("hw.memsize"),
    availableBytes: parseVmStat(pages),
    lockableBytes: number("vm.user_wire_limit"),
    graphicsLimitBytes: limit === null || limit === 0 ? null : limit * MiB,
  };
}

/** The graphics unit of an Apple processor; how much of its memory is free only Metal could tell. */
export function appleGraphics({ chip, totalBytes, graphicsLimitBytes }: AppleFacts): GpuFindings {
  if (totalBytes === null) {
    return { ...NOTHING, problems: ["sysctl does not tell the size of the memory."] };
  }
  return {
    accelerators: ["AppleMetal"],
    gpus: [
      {
        index: 0,
        name: chip ?? "Apple GPU",
        totalBytes: graphicsLimitBytes ?? metalShareBytes(totalBytes),
        freeBytes: null,
        unified: true,
      },
    ],
    problems: [],
  };
}

/**
 * Bytes that can be had without swapping by what vm_stat prints: free pages, cached files and what
 * programs have marked as purgeable, which is what Activity Monitor does not count as used. Null
 * for any other text.
 */
export function parseVmStat(text: string): number | null {
  const pageSize = Number(/page size of (\d+) bytes/.exec(text)?.[1]);
  const pages = ["Pages free", "File-backed pages", "Pages purgeable"].map((name) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1]),
  );
  const bytes = pages.reduce((sum, count) => sum + count, 0) * pageSize;
  return Number.isFinite(bytes) ? bytes : null;
}

/** What a program prints, also when it complains beside: sysctl does about a name it does not know. */
async function printed(
  name: string,
  usual: string,
  args: readonly string[],
  options: AppleOptions,
): Promise<string> {
  const program = (await findProgram(name, options.env)) ?? usual;
  const answer = await askProgram(program, args, options);
  return answer.kind === "ended" ? answer.stdout : "";
}
