import { type Config, enginesFolder } from "../../config/index.js";
import { readControlGroup, SystemFiles } from "../../processes/index.js";
import { openProvisioning } from "../engine-access.js";
import { EXIT } from "../failure.js";
import type { Io } from "../io.js";
import { wrap } from "../layout.js";
import { countText } from "../quantities.js";
import { type CommonOptions, loadSettings, serverEnvironment } from "../settings.js";
import { cacheFolder, checkFolder, modelsFolder } from "./disk.js";
import { checkEngine } from "./engine.js";
import { type Finding, fail, ok, warn } from "./finding.js";
import { checkGraphics } from "./graphics.js";
import { checkMemory } from "./memory.js";
import { checkModels } from "./models.js";
import { checkNetwork } from "./network.js";
import { checkProcessor } from "./processor.js";
import { askWith } from "./tools.js";

/** Node.js versions that the server is made for begin here. */
const LEAST_NODE = [20, 19] as const;

/** `somnus doctor`: 1 when something fails. */
export async function doctor(io: Io, options: CommonOptions & { json?: boolean }): Promise<number> {
  const findings = await examine(io, options);
  const failed = findings.filter(({ state }) => state === "fail").length;
  if (options.json) io.out.json({ ok: failed === 0, findings });
  else print(io, findings);
  return failed === 0 ? EXIT.ok : EXIT.failure;
}

async function examine(io: Io, options: CommonOptions): Promise<Finding[]> {
  const env = serverEnvironment(io.env);
  const files = new SystemFiles();
  const ask = askWith(env);
  const { findings: ofConfig, config } = await checkConfig(io, options);
  const group = await readControlGroup(files);
  const looks: (Finding | Finding[] | Promise<Finding | Finding[]>)[] = [
    checkNode(process.versions.node),
    ofConfig,
    checkProcessor(files, group),
    checkMemory(files, group),
    checkGraphics(files, ask),
  ];
  if (config !== null) {
    looks.push(
      checkFolder(modelsFolder(config.pool.models_dir), files),
      checkFolder(cacheFolder(enginesFolder(config)), files),
      checkEngine(config, openProvisioning(config, env), ask),
      checkModels(config, env),
      checkNetwork(config),
    );
  }
  return (await Promise.all(looks)).flat();
}

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor, leastMinor] = LEAST_NODE;
  const isNewEnough = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  return isNewEnough
    ? ok("Node.js", version)
    : fail("Node.js", version, `Install Node.js ${LEAST_NODE.join(".")} or newer.`);
}

async function checkConfig(
  io: Io,
  options: CommonOptions,
): Promise<{ findings: Finding[]; config: Config | null }> {
  try {
    const { config, file, warnings } = await loadSettings(io, options);
    const findings = [
      ok("configuration", file ?? "no file; the built-in values"),
      ...warnings.map((warning) =>
        warn("configuration", warning, "Remove it if it was not meant."),
      ),
    ];
    return { findings, config };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ConfigError") throw error;
    const [, ...lines] = error.message.split("\n");
    return {
      findings: lines.map((line) =>
        fail(
          "configuration",
          line.trim(),
          "Correct it; docs/reference/configuration.md has all keys.",
        ),
      ),
      config: null,
    };
  }
}

function print({ out }: Io, findings: readonly Finding[]): void {
  const { paint } = out;
  const colours = { ok: paint.green, warn: paint.yellow, fail: paint.red };
  const label = Math.max(...findings.map(({ check }) => check.length));
  const indent = " ".repeat(4 + 2 + label + 2);
  const width = Math.max(30, Math.min(out.columns, 120) - indent.length);
  for (const { check, state, found, fix } of findings) {
    const [first = "", ...rest] = wrap(found, width);
    out.line(`${colours[state](state.padEnd(4))}  ${check.padEnd(label)}  ${first}`);
    for (const line of rest) out.line(indent + line);
    if (fix !== null) for (const line of wrap(fix, width)) out.line(indent + paint.cyan(line));
  }
  const count = (state: Finding["state"]) => findings.filter((one) => one.state === state).length;
  const failed = count("fail");
  const warned = count("warn");
  out.line();
  if (failed === 0 && warned === 0) out.line(paint.green("Everything is in order."));
  else {
    const parts = [
      ...(failed === 0 ? [] : [`${countText(failed, "check")} failed`]),
      ...(warned === 0 ? [] : [countText(warned, "warning")]),
    ];
    out.line(`${parts.join(", ")}.`);
  }
}
