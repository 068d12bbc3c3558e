import { availableParallelism, cpus } from "node:os";
import type { GroupLimits } from "./control-group.js";
import { type Finding, ok, warn } from "./finding.js";
import type { SystemFiles } from "./system-files.js";

/** The processor: its cores, what of them may be used, and whether it has what engines are fast with. */
export async function checkProcessor(files: SystemFiles, limits: GroupLimits): Promise<Finding[]> {
  const logical = availableParallelism();
  const physical = await physicalCores(files);
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
  if (limits.processors !== null && limits.processors < logical) {
    const given = `a limit of ${Number(limits.processors.toFixed(2))} processors (cgroup v${limits.version})`;
    findings.push(
      limits.processors < 2
        ? warn("processor limit", given, "Raise the container's CPU limit to 2 or more.")
        : ok("processor limit", given),
    );
  }
  return findings;
}

/** Physical cores of the whole machine; null where the system does not tell them apart. */
export async function physicalCores(files: SystemFiles): Promise<number | null> {
  const folder = "/sys/devices/system/cpu";
  const names = (await files.names(folder)).filter((name) => /^cpu\d+$/.test(name));
  const cores = await Promise.all(
    names.map(async (name) => {
      const core = await files.text(`${folder}/${name}/topology/core_id`);
      const socket = await files.text(`${folder}/${name}/topology/physical_package_id`);
      return core === null ? null : `${socket}/${core}`;
    }),
  );
  const told = new Set(cores.filter((core) => core !== null));
  return told.size === 0 ? null : told.size;
}
