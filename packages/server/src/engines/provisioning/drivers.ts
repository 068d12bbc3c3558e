import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findProgram } from "../../processes/index.js";
import { runProgram } from "./run-program.js";
import { type Accelerator, exists } from "./toolchain.js";

/** A graphics interface that a ready-made program can use on this machine, by its driver alone. */
export interface Driver {
  accelerator: Accelerator;
  /** First number of the driver's version; null where it is not told or does not matter. */
  version: number | null;
}

/** What `findDrivers` looks at; everything else about it is fixed. */
export interface MachineView {
  platform: NodeJS.Platform;
  arch: string;
  env: NodeJS.ProcessEnv;
  exists(path: string): Promise<boolean>;
  /** The text of a file, or null. */
  text(path: string): Promise<string | null>;
  /** What `nvidia-smi` prints as the driver's version, or null. */
  nvidiaVersion(): Promise<string | null>;
}

const ASK_TIMEOUT_MS = 5_000;
const LIBRARY_FOLDERS = [
  "/usr/lib/x86_64-linux-gnu",
  "/usr/lib/aarch64-linux-gnu",
  "/usr/lib64",
  "/usr/lib",
  "/usr/local/lib",
];

/**
 * Graphics interfaces whose drivers and devices are here, the fastest first. Unlike a source build a
 * ready-made program needs no toolkit: NVIDIA's driver is enough for CUDA, a Vulkan loader and a
 * device for Vulkan; ROCm's libraries are not part of the release and must be installed.
 */
export async function findDrivers(view: MachineView): Promise<Driver[]> {
  const found: Driver[] = [];
  if (view.platform === "darwin") {
    return view.arch === "arm64" ? [{ accelerator: "metal", version: null }] : [];
  }
  if (view.platform === "win32") {
    const system = join(view.env.SystemRoot ?? "C:\\Windows", "System32");
    if (await view.exists(join(system, "nvcuda.dll"))) {
      const version = firstNumber(await view.nvidiaVersion());
      found.push({ accelerator: "cuda", version });
    }
    if (await firstThere(view, ["amdhip64.dll", "amdhip64_7.dll", "amdhip64_6.dll"], [system])) {
      found.push({ accelerator: "rocm", version: null });
    }
    if (await view.exists(join(system, "vulkan-1.dll"))) {
      found.push({ accelerator: "vulkan", version: null });
    }
    return found;
  }
  if (view.platform !== "linux") return [];
  if (await view.exists("/dev/nvidiactl")) {
    const kernel = /Module\s+(?:for \S+\s+)?(\d+)\./.exec(
      (await view.text("/proc/driver/nvidia/version")) ?? "",
    )?.[1];
    const version = firstNumber(kernel ?? (await view.nvidiaVersion()));
    found.push({ accelerator: "cuda", version });
  }
  const rocm = [join(view.env.ROCM_PATH ?? "/opt/rocm", "lib"), ...LIBRARY_FOLDERS];
  const hip = ["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"];
  if ((await view.exists("/dev/kfd")) && (await firstThere(view, hip, rocm))) {
    found.push({ accelerator: "rocm", version: null });
  }
  const hasLoader = await firstThere(view, ["libvulkan.so.1"], LIBRARY_FOLDERS);
  if ((await view.exists("/dev/dri/renderD128")) && hasLoader) {
    found.push({ accelerator: "vulkan", version: null });
  }
  return found;
}

/** The machine that this process runs on. */
export function thisMachine(env: NodeJS.ProcessEnv, signal: AbortSignal): MachineView {
  return {
    platform: process.platform,
    arch: process.arch,
    env,
    exists,
    text: (path) => readFile(path, "utf8").catch(() => null),
    async nvidiaVersion() {
      const path = await findProgram("nvidia-smi", env);
      if (path === null) return null;
      const args = ["--query-gpu=driver_version", "--format=csv,noheader"];
      try {
        const options = { cwd: process.cwd(), env, signal, timeoutMs: ASK_TIMEOUT_MS };
        const ended = await runProgram(path, args, options);
        return ended.code === 0 ? ended.stdout : null;
      } catch {
        signal.throwIfAborted();
        return null;
      }
    },
  };
}

function firstNumber(text: string | null | undefined): number | null {
  const digits = /\d+/.exec(text ?? "")?.[0];
  return digits === undefined ? null : Number(digits);
}

async function firstThere(
  view: MachineView,
  names: readonly string[],
  folders: readonly string[],
): Promise<boolean> {
  for (const folder of folders) {
    for (const name of names) if (await view.exists(join(folder, name))) return true;
  }
  return false;
}
