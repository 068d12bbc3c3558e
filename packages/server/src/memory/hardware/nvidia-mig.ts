/** One instance of a split NVIDIA device (https://docs.nvidia.com/datacenter/tesla/mig-user-guide/). */
export interface MigInstance {
  totalBytes: number;
  freeBytes: number | null;
}

const MiB = 2 ** 20;

/** Instances in what `nvidia-smi -q -x` prints, by the device's UUID, in their order. */
export function parseMigInstances(report: string): Map<string, MigInstance[]> {
  const found = new Map<string, MigInstance[]>();
  for (const [, gpu = ""] of report.matchAll(/<gpu id=[^>]*>(.*?)<\/gpu>/gs)) {
    const uuid = /<uuid>\s*(\S+?)\s*<\/uuid>/.exec(gpu)?.[1];
    if (uuid === undefined) continue;
    const instances: MigInstance[] = [];
    for (const [, instance = ""] of gpu.matchAll(/<mig_device>(.*?)<\/mig_device>/gs)) {
      const memory = /<fb_memory_usage>(.*?)<\/fb_memory_usage>/s.exec(instance)?.[1] ?? "";
      const totalBytes = mebibytes(memory, "total");
      if (totalBytes !== null) instances.push({ totalBytes, freeBytes: mebibytes(memory, "free") });
    }
    found.set(uuid, instances);
  }
  return found;
}

/** Which device's instance a name like `MIG-c7384736-...` is, by what `nvidia-smi -L` prints. */
export function migPlace(listing: string, name: string): { uuid: string; device: number } | null {
  let uuid = "";
  for (const line of listing.split("\n")) {
    uuid = /^GPU \d+:.*\(UUID: (GPU-[^)]+)\)/.exec(line)?.[1] ?? uuid;
    const instance = /^\s+MIG .*Device\s+(\d+): \(UUID: (MIG-[^)]+)\)/.exec(line);
    if (instance?.[2]?.startsWith(name)) return { uuid, device: Number(instance[1]) };
  }
  return null;
}

function mebibytes(xml: string, tag: string): number | null {
  const told = new RegExp(`<${tag}>\\s*(\\d+) MiB`).exec(xml)?.[1];
  return told === undefined ? null : Number(told) * MiB;
}
