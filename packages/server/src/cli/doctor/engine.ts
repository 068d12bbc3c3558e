import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { Config } from "../../config/index.js";
import type { EngineReport, Provisioning, Toolchain } from "../../engines/provisioning/index.js";
import { type Finding, fail, ok, warn } from "./finding.js";
import type { Ask } from "./tools.js";

/** The program that runs text models, or what it takes to build it here. */
export async function checkEngine(
  config: Config,
  provisioning: Provisioning,
  ask: Ask,
): Promise<Finding[]> {
  const [report, toolchain, onPath, setpriv] = await Promise.all([
    provisioning.report(new AbortController().signal, "look"),
    provisioning.toolchain(),
    ask("llama-server", ["--version"]),
    ask("setpriv", ["--version"]),
  ]);
  const engine = await judgeEngine(config, report, onPath.ok, toolchain);
  const findings = [
    engine,
    ...judgeSetbacks(report),
    ...judgeTools(
      toolchain,
      engine.state === "ok"
        ? "there is an engine"
        : config.engines.llama.release_build
          ? "a ready-made engine can be fetched"
          : null,
    ),
  ];
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
  { builds, choice }: EngineReport,
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
  const usable = builds.filter(
    ({ setback, origin }) => setback === null && origin !== "configured",
  );
  const chosen = builds.find(({ id }) => id === choice);
  if (choice !== null && chosen === undefined) {
    return warn(
      "engine",
      `the chosen build ${choice} is not installed`,
      "See somnus engine list; somnus engine use auto takes the choice back.",
    );
  }
  const used = usable.find(({ id }) => id === choice) ?? usable[0] ?? builds[0];
  if (used !== undefined) return ok("engine", `${used.version} (${used.id}), ${used.path}`);
  if (isOnPath) return ok("engine", "llama-server on PATH; tried at the first start");
  const canBuild = canBuildWith(toolchain);
  if (config.engines.llama.release_build) {
    return warn(
      "engine",
      "none yet",
      `The first \`somnus serve\` fetches the project's release${config.engines.llama.source_build && canBuild ? ", or builds it from source, which takes some minutes" : ""}.`,
    );
  }
  if (!config.engines.llama.source_build) {
    return fail(
      "engine",
      "none, and engines.llama.source_build and release_build are off",
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

/** Builds that are passed over because their engines crashed. */
function judgeSetbacks({ builds }: EngineReport): Finding[] {
  return builds.flatMap(({ id, setback }) =>
    setback === null
      ? []
      : [
          warn(
            "engine build",
            `${id} is passed over since ${setback.at}: ${setback.reason}`,
            `Try it again: somnus engine use ${id}. Or remove it: somnus engine remove ${id}`,
          ),
        ],
  );
}

function canBuildWith({ compiler, cmake, ninja, make, pip }: Toolchain): boolean {
  const hasCmake = cmake !== null || pip !== null;
  const hasDriver = ninja !== null || make !== null || pip !== null;
  return compiler !== null && hasCmake && hasDriver && pip !== null;
}

/** The tools of a source build. Where there is a reason why not, none of them is missed. */
function judgeTools(toolchain: Toolchain, whyNotNeeded: string | null): Finding[] {
  const { compiler, cmake, ninja, make, pip, accelerators } = toolchain;
  const named = (tool: { path: string; version: string | null }) =>
    `${tool.path}${tool.version === null ? "" : ` ${tool.version}`}`;
  const missing = (check: string, isNeeded: boolean, without: string, fix: string): Finding => {
    if (whyNotNeeded !== null) return ok(check, `none; not needed, ${whyNotNeeded}`);
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
