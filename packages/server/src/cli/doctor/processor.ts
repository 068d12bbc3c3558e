import { cpus } from "node:os";
import {
  type ControlGroup,
  physicalCores,
  readCpus,
  type SystemFiles,
} from "../../processes/index.js";
import { type Finding, ok, warn } from "./finding.js";

/** The processor: its cores, what of them may be used, and whether it has what engines are fast with. */
export async function checkProcessor(
  files: SystemFiles,
  group: Pick<ControlGroup, "processors" | "version">,
): Promise<Finding[]> {
  const usable = await readCpus({ files });
  const logical = usable.length;
  const physical = physicalCores(usable);
  const name = cpus()[0]?.model.trim() || process.arch;
  const cores =
    physical === null
      ? `${logical} logical processors`
      : `${physical} cores, ${logical} logical processors usable`;
  const findings: Finding[] = [];
  if (Math.min(physical ?? logical, logical) < 2) {
    findings.push(
      warn("processor", `${name}: ${cores}`, "One core is slow; give the machine at least two."),
    );
  } else findings.push(ok("processor", `${name}: ${cores}`));

  const cpuinfo = (await files.text("/proc/cpuinfo")) ?? "";
  const flags = /^flags\s*:(.*)$/m.exec(cpuinfo)?.[1]?.split(/\s+/) ?? null;
  if (process.arch === "x64" && flags !== null && !flags.includes("avx2")) {
    findings.push(
      warn(
        "instructions",
        "no AVX2",
        "Models run several times slower without it; on a virtual machine, pass the host's processor through.",
      ),
    );
  }
  if (group.processors !== null && group.processors < logical) {
    const given = `a limit of ${Number(group.processors.toFixed(2))} processors (cgroup v${group.version})`;
    findings.push(
      group.processors < 2
        ? warn("processor limit", given, "Raise the container's CPU limit to 2 or more.")
        : ok("processor limit", given),
    );
  }
  return findings;
}
