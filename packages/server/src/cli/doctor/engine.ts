import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { Config } from "../../config/index.js";
import type { EngineBinary, Provisioning, Toolchain } from "../../engines/provisioning/index.js";
import { type Finding, fail, ok, warn } from "./finding.js";
import type { Ask } from "./tools.js";

/** The program that runs text models, or what it takes to build it here. */
export async function checkEngine(
  config: Config,
  provisioning: Provisioning,
  ask: Ask,
): Promise<Finding[]> {
  const [installed, toolchain, onPath, setpriv] = await Promise.all([
    provisioning.installed(),
    provisioning.toolchain(),
    ask("llama-server", ["--version"]),
    ask("setpriv", ["--version"]),
  ]);
  const engine = await judgeEngine(config, installed, onPath.ok, toolchain);
  const findings = [engine, ...judgeTools(toolchain, engine.state === "ok")];
  if (process.platform === "linux") {
    findings.push(
      setpriv.ok
        ? ok("setpriv", "engines end with the server, whatever ends it")
        : warn(
            "setpriv",
            "missing: an engine may outlive a server that is killed",
            "Install util-linux.",
          ),
    );
  }
  return findings;
}

async function judgeEngine(
  config: Config,
  installed: EngineBinary[],
  isOnPath: boolean,
  toolchain: Toolchain,
): Promise<Finding> {
  const configured = config.engines.llama.path;
  if (configured !== undefined) {
    const usable = await access(configured, constants.X_OK).then(
      () => true,
      () => false,
    );
    return usable
      ? ok("engine", `${configured} (engines.llama.path)`)
      : fail(
          "engine",
          `${configured} is no program that can be run`,
          "Correct engines.llama.path, or remove it and Somnus finds one itself.",
        );
  }
  const [newest] = installed;
  if (newest !== undefined) return ok("engine", `${newest.version}, ${newest.path}`);
  if (isOnPath) return ok("engine", "llama-server on PATH; tried at the first start");
  const canBuild = canBuildWith(toolchain);
  if (!config.engines.llama.source_build) {
    return fail(
      "engine",
      "none, and engines.llama.source_build is off",
      "Allow it, or set engines.llama.path to a llama-server.",
    );
  }
  return canBuild
    ? warn(
        "engine",
        "none yet",
        "The first `somnus serve` builds it from source, which takes some minutes.",
      )
    : fail(
        "engine",
        "none, and it cannot be built here",
        "Install what is missing below, or set engines.llama.path to a llama-server.",
      );
}

function canBuildWith({ compiler, cmake, ninja, make, pip }: Toolchain): boolean {
  const hasCmake = cmake !== null || pip !== null;
  const hasDriver = ninja !== null || make !== null || pip !== null;
  return compiler !== null && hasCmake && hasDriver && pip !== null;
}

/** The tools of a source build. Where an engine is there already, none of them is missed. */
function judgeTools(toolchain: Toolchain, hasEngine: boolean): Finding[] {
  const { compiler, cmake, ninja, make, pip, accelerators } = toolchain;
  const named = (tool: { path: string; version: string | null }) =>
    `${tool.path}${tool.version === null ? "" : ` ${tool.version}`}`;
  const missing = (check: string, isNeeded: boolean, without: string, fix: string): Finding => {
    if (hasEngine) return ok(check, "none; not needed, there is an engine");
    return isNeeded ? fail(check, without, fix) : ok(check, without);
  };
  const viaPip = "none; pip brings it for a build";
  return [
    compiler === null
      ? missing("C++ compiler", true, "none", installAdvice("a C++ compiler", "build-essential"))
      : ok("C++ compiler", named(compiler)),
    cmake === null
      ? missing(
          "cmake",
          pip === null,
          pip === null ? "none" : viaPip,
          installAdvice("cmake", "cmake"),
        )
      : ok("cmake", named(cmake)),
    ninja === null && make === null
      ? missing(
          "ninja or make",
          pip === null,
          pip === null ? "none" : viaPip,
          installAdvice("ninja", "ninja-build"),
        )
      : ok("ninja or make", named((ninja ?? make)!)),
    pip === null
      ? warn(
          "pip",
          "none: models and engines that come as Python packages cannot be fetched",
          installAdvice("Python's pip", "python3-pip"),
        )
      : ok("pip", named(pip)),
    ...(accelerators.length === 0
      ? []
      : [ok("build toolkits", `${accelerators.join(", ")}: a build uses it`)]),
  ];
}

function installAdvice(what: string, debianPackage: string): string {
  if (process.platform === "darwin") return `Install ${what}: xcode-select --install, or brew.`;
  return `Install ${what} with the system's package manager (Debian, Ubuntu: sudo apt install ${debianPackage}).`;
}
