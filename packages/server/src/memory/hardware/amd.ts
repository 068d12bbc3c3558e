import type { SystemFiles } from "../../processes/index.js";
import type { Accelerator } from "../machine.js";
import { type GpuFindings, type GpuReading, NOTHING } from "./accelerators.js";
import { visibleOnly } from "./visible-devices.js";

/** AMD's number among PCI vendors (https://pci-ids.ucw.cz). */
const AMD = "0x1002";
const DRM = "/sys/class/drm";
const KFD_NODES = "/sys/class/kfd/kfd/topology/nodes";
/** Names by device and revision, from libdrm. */
const NAME_LISTS = ["/usr/share/libdrm/amdgpu.ids", "/opt/amdgpu/share/libdrm/amdgpu.ids"];

/**
 * AMD's graphics processors through the files of the amdgpu driver
 * (https://docs.kernel.org/gpu/amdgpu/driver-misc.html), in the order in which ROCm counts them. One
 * that is part of the processor uses host memory beside its own small share, so both count together.
 */
export async function readAmd(files: SystemFiles, env: NodeJS.ProcessEnv): Promise<GpuFindings> {
  const usable = new Set(await files.names("/dev/dri"));
  const names = (await renderNodes(files)).filter((name) => usable.has(name));
  const read = await Promise.all(names.map((name) => readGpu(files, `${DRM}/${name}/device`)));
  const found = read.filter((gpu) => gpu !== null);
  if (found.length === 0) return NOTHING;
  const compute = (await files.names("/dev")).includes("kfd");
  const accelerators: Accelerator[] = compute ? ["AmdRocm", "Vulkan"] : ["Vulkan"];
  const chosen = env.HIP_VISIBLE_DEVICES ?? env.ROCR_VISIBLE_DEVICES;
  const { visible } = visibleOnly(compute ? chosen : undefined, found, () => "");
  return {
    accelerators,
    gpus: visible.map((gpu, index) => ({ ...gpu, index })),
    problems: [],
  };
}

/** Names of render nodes: in the order of the compute driver's list where there is one. */
async function renderNodes(files: SystemFiles): Promise<string[]> {
  const nodes = (await files.names(KFD_NODES)).sort((a, b) => Number(a) - Number(b));
  const listed = await Promise.all(
    nodes.map(async (node) => {
      const properties = (await files.text(`${KFD_NODES}/${node}/properties`)) ?? "";
      const minor = Number(/^drm_render_minor (\d+)$/m.exec(properties)?.[1] ?? 0);
      return minor > 0 ? `renderD${minor}` : null;
    }),
  );
  const inOrder = listed.filter((name) => name !== null);
  const there = (await files.names(DRM)).filter((name) => /^renderD\d+$/.test(name)).sort();
  return [...new Set([...inOrder, ...there])];
}

async function readGpu(files: SystemFiles, folder: string): Promise<GpuReading | null> {
  const read = (name: string) => files.text(`${folder}/${name}`);
  if ((await read("vendor")) !== AMD) return null;
  const [total, used, sharedTotal, sharedUsed] = await Promise.all(
    ["vram_total", "vram_used", "gtt_total", "gtt_used"].map(async (name) =>
      bytesOf(await read(`mem_info_${name}`)),
    ),
  );
  if (total === null || total === undefined) return null;
  const unified = await isPartOfProcessor(files, folder);
  const shared = unified ? (sharedTotal ?? 0) : 0;
  const taken =
    used === null || used === undefined ? null : used + (unified ? (sharedUsed ?? 0) : 0);
  return {
    index: 0,
    name: await nameOf(files, folder),
    totalBytes: total + shared,
    freeBytes: taken === null ? null : Math.max(0, total + shared - taken),
    unified,
  };
}

/**
 * The driver offers neither of these two files for a graphics unit inside of a processor, and at least
 * one of them for a card (`default_attr_update` in the kernel's amdgpu_pm.c).
 */
async function isPartOfProcessor(files: SystemFiles, folder: string): Promise<boolean> {
  const names = await files.names(folder);
  return (
    names.includes("gpu_busy_percent") &&
    !names.includes("mem_busy_percent") &&
    !names.includes("pcie_bw")
  );
}

async function nameOf(files: SystemFiles, folder: string): Promise<string> {
  const [product, device = null, revision = null] = await Promise.all(
    ["product_name", "device", "revision"].map((name) => files.text(`${folder}/${name}`)),
  );
  if (product) return product;
  const id = device?.replace(/^0x/, "").toUpperCase() ?? "";
  const version = revision?.replace(/^0x/, "").toUpperCase() ?? "";
  for (const path of NAME_LISTS) {
    for (const line of ((await files.text(path)) ?? "").split("\n")) {
      const [lineId, lineVersion, ...name] = line.split(",").map((part) => part.trim());
      if (lineId?.toUpperCase() === id && lineVersion?.toUpperCase() === version) {
        return name.join(", ");
      }
    }
  }
  return `AMD graphics ${id === "" ? "" : `1002:${id.toLowerCase()}`}`.trim();
}

function bytesOf(text: string | null): number | null {
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}
