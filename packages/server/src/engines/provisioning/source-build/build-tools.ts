import { join } from "node:path";
import { isExecutableFile } from "../../../processes/index.js";
import { runProgram } from "../run-program.js";
import type { Toolchain } from "../toolchain.js";

/** The programs that will make the build. */
export interface BuildTools {
  cmake: string;
  generator: { name: "Ninja" | "Unix Makefiles"; program: string };
}

export interface BuildToolsRequest {
  toolchain: Toolchain;
  /** What to ask pip for, as requirements. */
  packages: { cmake: string; ninja: string };
  /** Folder for what pip brings. */
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Called with the names of the tools before they are fetched. */
  onFetch: (names: string[]) => void;
  /** Lines of pip, for the log. */
  onLine: (line: string) => void;
}

const PIP_TIMEOUT_MS = 300_000;

/**
 * cmake and ninja of the system; what is missing comes from the Python index into `folder`; make
 * stands in for ninja. Null when no complete set can be had.
 * @throws the signal's reason when it fires
 */
export async function getBuildTools(
  request: BuildToolsRequest,
  signal: AbortSignal,
): Promise<BuildTools | null> {
  const { toolchain } = request;
  const missing: ("cmake" | "ninja")[] = [];
  if (toolchain.cmake === null) missing.push("cmake");
  if (toolchain.ninja === null) missing.push("ninja");
  const fetched =
    missing.length === 0 || toolchain.pip === null
      ? { cmake: null, ninja: null }
      : await fetchWithPip(toolchain.pip.path, missing, request, signal);
  const cmake = toolchain.cmake?.path ?? fetched.cmake;
  const ninja = toolchain.ninja?.path ?? fetched.ninja;
  if (cmake === null) return null;
  if (ninja !== null) return { cmake, generator: { name: "Ninja", program: ninja } };
  const make = toolchain.make?.path;
  if (make === undefined) return null;
  return { cmake, generator: { name: "Unix Makefiles", program: make } };
}

async function fetchWithPip(
  python: string,
  names: ("cmake" | "ninja")[],
  request: BuildToolsRequest,
  signal: AbortSignal,
): Promise<{ cmake: string | null; ninja: string | null }> {
  request.onFetch(names);
  const found: { cmake: string | null; ninja: string | null } = { cmake: null, ninja: null };
  // One call a tool: where an index lacks one of them, the other is still had.
  for (const name of names) {
    const target = join(request.folder, name);
    const quiet = ["--disable-pip-version-check", "--no-input", "--quiet"];
    const only = ["--no-deps", "--only-binary", ":all:"];
    const args = ["-m", "pip", "install", ...quiet, ...only, "--target", target];
    const ended = await runProgram(python, [...args, request.packages[name]], {
      cwd: request.folder,
      // A personal `user = true` of pip cannot be combined with --target.
      env: { ...request.env, PIP_USER: "0" },
      signal,
      timeoutMs: PIP_TIMEOUT_MS,
      onLine: request.onLine,
    });
    if (ended.code === 0) found[name] = await programOf(name, target);
  }
  return found;
}

/** The wheels carry the real program under `data/bin`; `bin` may hold a script that needs Python's path. */
async function programOf(name: string, target: string): Promise<string | null> {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  for (const path of [join(target, name, "data", "bin", file), join(target, "bin", file)]) {
    if (await isExecutableFile(path)) return path;
  }
  return null;
}
