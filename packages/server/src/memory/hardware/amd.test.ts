import { expect, it } from "vitest";
import { systemWith } from "../../processes/__fixtures__/system.js";
import { readAmd } from "./amd.js";

/** The files of amdgpu for a card, as an RX 6900 XT on kernel 6.6 shows them. */
const card = (minor: number, more: Record<string, string> = {}) => ({
  [`/dev/dri/renderD${minor}`]: "",
  ...inDevice(minor, {
    vendor: "0x1002",
    device: "0x73bf",
    revision: "0xc1",
    gpu_busy_percent: "0",
    mem_busy_percent: "0",
    mem_info_vram_total: "17163091968",
    mem_info_vram_used: "1262559232",
    mem_info_gtt_total: "16807571456",
    mem_info_gtt_used: "52224000",
    ...more,
  }),
});
/** The files for the graphics unit of a Ryzen AI MAX+ 395 with 128 GiB. */
const integrated = (minor: number) => {
  const files = card(minor, {
    device: "0x1586",
    mem_info_vram_total: "536870912",
    mem_info_vram_used: "155189248",
    mem_info_gtt_total: "133143986176",
    mem_info_gtt_used: "18874368",
  });
  delete files[`/sys/class/drm/renderD${minor}/device/mem_busy_percent`];
  return files;
};
const inDevice = (minor: number, files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).map(([name, text]) => [
      `/sys/class/drm/renderD${minor}/device/${name}`,
      text,
    ]),
  );
const kfdNode = (node: number, minor: number) => ({
  [`/sys/class/kfd/kfd/topology/nodes/${node}/properties`]: `cpu_cores_count 0\nsimd_count 160\ndrm_render_minor ${minor}\n`,
});
const NAMES = {
  "/usr/share/libdrm/amdgpu.ids":
    "# List of AMDGPU IDs\n1.0.0\n73BF,\tC0,\tAMD Radeon RX 6800 XT\n73BF,\tC1,\tAMD Radeon RX 6900 XT",
};
const KFD = { "/dev/kfd": "" };

const read = async (files: Record<string, string>, env: NodeJS.ProcessEnv = {}) =>
  readAmd(await systemWith(files), env);

it("has nothing to say on a machine without AMD's driver", async () => {
  expect(await read({})).toEqual({ accelerators: [], gpus: [], problems: [] });
  const intel = { "/dev/dri/renderD128": "", ...inDevice(128, { vendor: "0x8086" }) };
  expect((await read(intel)).gpus).toEqual([]);
});

it("reads a card's memory and its name by device and revision", async () => {
  expect(await read({ ...card(128), ...NAMES, ...KFD })).toEqual({
    accelerators: ["AmdRocm", "Vulkan"],
    problems: [],
    gpus: [
      {
        index: 0,
        name: "AMD Radeon RX 6900 XT",
        totalBytes: 17163091968,
        freeBytes: 17163091968 - 1262559232,
        unified: false,
      },
    ],
  });
});

it("names a card by its own product name, or by its number", async () => {
  const name = async (more: Record<string, string>) => (await read(card(128, more))).gpus[0]?.name;
  expect(await name({ product_name: "AMD Instinct MI210" })).toBe("AMD Instinct MI210");
  expect(await name({})).toBe("AMD graphics 1002:73bf");
});

it("counts the host memory that a unit inside of the processor can use", async () => {
  const { gpus } = await read({ ...integrated(128), ...KFD });
  expect(gpus).toMatchObject([
    {
      unified: true,
      totalBytes: 536870912 + 133143986176,
      freeBytes: 536870912 + 133143986176 - 155189248 - 18874368,
    },
  ]);
});

it("takes a card of the Vega kind for a card", async () => {
  const files: Record<string, string> = card(128, { pcie_bw: "0 0 256" });
  delete files["/sys/class/drm/renderD128/device/mem_busy_percent"];
  expect((await read(files)).gpus).toMatchObject([{ unified: false }]);
});

it("counts as the compute driver does, and only what it may use", async () => {
  const files = {
    ...card(128, { product_name: "first" }),
    ...card(129, { product_name: "second" }),
    ...kfdNode(1, 129),
    ...kfdNode(2, 128),
    ...KFD,
  };
  const names = async (env: NodeJS.ProcessEnv = {}) =>
    (await read(files, env)).gpus.map(({ index, name }) => `${index} ${name}`);
  expect(await names()).toEqual(["0 second", "1 first"]);
  expect(await names({ HIP_VISIBLE_DEVICES: "1" })).toEqual(["0 first"]);
  const passed = { ...files } as Record<string, string>;
  delete passed["/dev/dri/renderD129"];
  expect((await read(passed)).gpus.map(({ name }) => name)).toEqual(["first"]);
});

it("can only use Vulkan without the compute driver", async () => {
  expect((await read(card(128))).accelerators).toEqual(["Vulkan"]);
});

it("does not make numbers of what it cannot read", async () => {
  const free = async (used: string) =>
    (await read(card(128, { mem_info_vram_used: used }))).gpus[0];
  expect(await free("")).toMatchObject({ freeBytes: null });
  expect((await read(card(128, { mem_info_vram_total: "" }))).gpus).toEqual([]);
});
