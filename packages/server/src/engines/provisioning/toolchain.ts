import { access } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findProgram } from "../../processes/index.js";
import { type Ended, runProgram } from "./run-program.js";

/** A program that is there and runs. */
export interface Tool {
  path: string;
  /** As it prints it; null when it prints none. */
  version: string | null;
}

/** Graphics interfaces that a source build can be switched to. */
export type Accelerator = "cuda" | "rocm" | "vulkan" | "metal";

/** What of the tools for a source build is on this machine. */
export interface Toolchain {
  cmake: Tool | null;
  ninja: Tool | null;
  make: Tool | null;
  compiler: Tool | null;
  python: Tool | null;
  pip: Tool | null;
  /** Toolkits that are here together with a device for them. At most one for one device. */
  accelerators: Accelerator[];
}

const ASK_TIMEOUT_MS = 10_000;

/**
 * Looks for the tools and asks each for its version. A program that cannot answer counts as absent:
 * the compiler stubs of a Mac without developer tools exist and do nothing.
 * @throws the signal's reason when it fires
 */
export async function findToolchain(
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Toolchain> {
  const first = async (names: readonly string[]): Promise<Tool | null> => {
    for (const name of names) {
      const tool = await tryTool(name, ["--version"], env, signal);
      if (tool !== null) return tool;
    }
    return null;
  };
  const own = env.CXX === undefined || env.CXX.trim() === "" ? [] : [env.CXX.trim()];
  const [cmake, ninja, make, compiler, python] = await Promise.all([
    first(["cmake"]),
    first(["ninja", "ninja-build", "samu"]),
    first(["make", "gmake"]),
    first([...own, "c++", "g++", "clang++"]),
    first(["python3", "python"]),
  ]);
  const pip = python === null ? null : await tryPip(python.path, env, signal);
  return {
    ...{ cmake, ninja, make, compiler, python, pip },
    accelerators: await findAccelerators(env),
  };
}

async function tryTool(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Tool | null> {
  const path = /[\\/]/.test(name) ? name : await findProgram(name, env);
  if (path === null) return null;
  const ended = await askVersion(path, args, env, signal);
  return ended === null ? null : { path, version: versionIn(ended.stdout || ended.stderr) };
}

async function tryPip(
  python: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Tool | null> {
  const ended = await askVersion(python, ["-m", "pip", "--version"], env, signal);
  return ended === null ? null : { path: python, version: versionIn(ended.stdout) };
}

async function askVersion(
  path: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Ended | null> {
  try {
    const options = { cwd: process.cwd(), env, signal, timeoutMs: ASK_TIMEOUT_MS };
    const ended = await runProgram(path, args, options);
    return ended.code === 0 ? ended : null;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** The first thing that looks like a version in the first line: "12.2.0" of "g++ (Debian) 12.2.0". */
export function versionIn(printed: string): string | null {
  const line = printed.trim().split("\n")[0] ?? "";
  return /(?<![\w.-])\d+(?:\.\d+)+/.exec(line)?.[0] ?? null;
}

/**
 * Accelerators that a source build can be switched to, without running anything.
 * A toolkit without a device would only cost build time, and one device through two interfaces
 * would appear as two: so each needs its device, and Vulkan is for machines without the other two.
 */
export async function findAccelerators(env: NodeJS.ProcessEnv): Promise<Accelerator[]> {
  // llama.cpp's own releases for Intel Macs are without Metal.
  if (process.platform === "darwin") return process.arch === "arm64" ? ["metal"] : [];
  if (process.platform !== "linux") return [];
  if ((await exists("/dev/nvidiactl")) && (await cudaToolkit(env)) !== null) return ["cuda"];
  if ((await exists("/dev/kfd")) && (await rocmToolkit(env)) !== null) return ["rocm"];
  const shaderCompiler = await findProgram("glslc", env);
  const headers = ["vulkan/vulkan.h", "spirv/unified1/spirv.hpp"];
  const roots = ["/usr/include", "/usr/local/include", join(env.VULKAN_SDK ?? "/usr", "include")];
  const all = await Promise.all(
    headers.map(async (header) => (await firstThere(roots.map((r) => join(r, header)))) !== null),
  );
  const device = await exists("/dev/dri/renderD128");
  return device && shaderCompiler !== null && all.every(Boolean) ? ["vulkan"] : [];
}

/** Folder of a CUDA toolkit that has both the compiler and cuBLAS, or null. */
export async function cudaToolkit(env: NodeJS.ProcessEnv): Promise<string | null> {
  const onPath = await findProgram("nvcc", env);
  const roots = [
    onPath === null ? null : dirname(dirname(onPath)),
    env.CUDA_PATH,
    "/usr/local/cuda",
  ];
  for (const root of roots) {
    if (root === null || root === undefined || root === "") continue;
    const blas = ["include/cublas_v2.h", "targets/x86_64-linux/include/cublas_v2.h"];
    const compiler = await exists(join(root, "bin", "nvcc"));
    if (compiler && (await firstThere(blas.map((file) => join(root, file)))) !== null) return root;
  }
  return null;
}

/**
 * A ROCm toolkit that has compiler, hipBLAS and rocBLAS, or null. `clang` is the compiler that cmake
 * takes for HIP (llama.cpp's docs/build.md: HIPCXX and HIP_PATH as hipconfig tells them).
 */
export async function rocmToolkit(
  env: NodeJS.ProcessEnv,
): Promise<{ root: string; clang: string } | null> {
  const onPath = await findProgram("hipcc", env);
  const roots = [env.ROCM_PATH, "/opt/rocm", onPath === null ? null : dirname(dirname(onPath))];
  for (const root of roots) {
    if (root === null || root === undefined || root === "") continue;
    const clang = await firstThere(
      ["lib/llvm/bin/clang", "llvm/bin/clang"].map((file) => join(root, file)),
    );
    const needed = ["bin/hipcc", "include/hipblas/hipblas.h", "include/rocblas/rocblas.h"];
    const all = await Promise.all(needed.map((file) => exists(join(root, file))));
    if (clang !== null && all.every(Boolean)) return { root, clang };
  }
  return null;
}

async function firstThere(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) if (await exists(path)) return path;
  return null;
}

/** Whether there is anything under a path. */
export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
