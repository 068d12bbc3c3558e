import type { SystemFiles } from "../../processes/index.js";
import { type Finding, ok, warn } from "./finding.js";
import type { Ask } from "./tools.js";

/** PCI vendors that make graphics processors (https://pci-ids.ucw.cz). */
const VENDORS: Record<string, string> = {
  "0x10de": "NVIDIA",
  "0x1002": "AMD",
  "0x8086": "Intel",
};
/** PCI class of display controllers, its first two digits. */
const DISPLAY_CLASS = /^0x03/;

/** Graphics processors and whether their drivers are there. Without any, models run on the processor. */
export async function checkGraphics(files: SystemFiles, ask: Ask): Promise<Finding[]> {
  if (process.platform === "darwin") {
    return process.arch === "arm64"
      ? [ok("graphics", "Apple GPU (Metal)")]
      : [ok("graphics", "none that is used; models run on the processor")];
  }
  const findings: Finding[] = [];
  const vendors = await displayVendors(files);
  const devices = await files.names("/dev/dri");
  const nvidia = await ask("nvidia-smi", [
    "--query-gpu=name,memory.total,driver_version",
    "--format=csv,noheader",
  ]);
  if (nvidia.ok) {
    for (const line of nvidia.output.split("\n").filter((one) => one.trim() !== "")) {
      findings.push(ok("graphics", line.trim()));
    }
  } else if (vendors.has("NVIDIA") || (await files.text("/proc/driver/nvidia/version")) !== null) {
    findings.push(
      warn(
        "graphics",
        `an NVIDIA card, but ${nvidia.found ? "nvidia-smi fails" : "no nvidia-smi"}`,
        "Install NVIDIA's driver; in a container, pass the card through (--gpus all).",
      ),
    );
  }
  for (const vendor of ["AMD", "Intel"]) {
    if (!vendors.has(vendor)) continue;
    const hasDevice = devices.some((name) => name.startsWith("renderD"));
    const rocm = vendor === "AMD" && (await files.names("/dev")).includes("kfd");
    findings.push(
      hasDevice
        ? ok("graphics", `${vendor} (/dev/dri${rocm ? ", /dev/kfd for ROCm" : ""})`)
        : warn(
            "graphics",
            `an ${vendor} card without a device in /dev/dri`,
            "Load its kernel driver; in a container, pass /dev/dri through.",
          ),
    );
  }
  return findings.length > 0 ? findings : [ok("graphics", "none; models run on the processor")];
}

async function displayVendors(files: SystemFiles): Promise<Set<string>> {
  const folder = "/sys/bus/pci/devices";
  const found = new Set<string>();
  for (const device of await files.names(folder)) {
    const kind = (await files.text(`${folder}/${device}/class`)) ?? "";
    if (!DISPLAY_CLASS.test(kind)) continue;
    const vendor = VENDORS[(await files.text(`${folder}/${device}/vendor`)) ?? ""];
    if (vendor !== undefined) found.add(vendor);
  }
  return found;
}
