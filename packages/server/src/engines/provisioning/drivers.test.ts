import { expect, test } from "vitest";
import { findDrivers, type MachineView } from "./drivers.js";

function machine(files: Record<string, string>, view: Partial<MachineView> = {}): MachineView {
  return {
    platform: "linux",
    arch: "x64",
    env: {},
    exists: async (path) => path in files,
    text: async (path) => files[path] ?? null,
    nvidiaVersion: async () => null,
    ...view,
  };
}

test("NVIDIA's driver is enough for CUDA, and its version is told", async () => {
  const version =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\n";
  const files = { "/dev/nvidiactl": "", "/proc/driver/nvidia/version": version };
  expect(await findDrivers(machine(files))).toEqual([{ accelerator: "cuda", version: 550 }]);
  const open =
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n";
  const ofOpen = machine({ "/dev/nvidiactl": "", "/proc/driver/nvidia/version": open });
  expect(await findDrivers(ofOpen)).toEqual([{ accelerator: "cuda", version: 580 }]);
  const asked = machine({ "/dev/nvidiactl": "" }, { nvidiaVersion: async () => "535.1\n" });
  expect(await findDrivers(asked)).toEqual([{ accelerator: "cuda", version: 535 }]);
  const unknown = machine({ "/dev/nvidiactl": "" });
  expect(await findDrivers(unknown)).toEqual([{ accelerator: "cuda", version: null }]);
});

test("Vulkan needs a device and a loader, ROCm its libraries as well", async () => {
  const loader = "/usr/lib/x86_64-linux-gnu/libvulkan.so.1";
  expect(await findDrivers(machine({ [loader]: "" }))).toEqual([]);
  expect(await findDrivers(machine({ "/dev/dri/renderD128": "" }))).toEqual([]);
  const both = { "/dev/dri/renderD128": "", [loader]: "" };
  expect(await findDrivers(machine(both))).toEqual([{ accelerator: "vulkan", version: null }]);
  const amd = { ...both, "/dev/kfd": "" };
  expect((await findDrivers(machine(amd))).map((one) => one.accelerator)).toEqual(["vulkan"]);
  const rocm = { ...amd, "/opt/rocm/lib/libamdhip64.so": "" };
  expect((await findDrivers(machine(rocm))).map((one) => one.accelerator)).toEqual([
    "rocm",
    "vulkan",
  ]);
});

test("a Mac has Metal on Apple's processors", async () => {
  const mac = (arch: string) => findDrivers(machine({}, { platform: "darwin", arch }));
  expect(await mac("arm64")).toEqual([{ accelerator: "metal", version: null }]);
  expect(await mac("x64")).toEqual([]);
});

test("a machine without any has none", async () => {
  expect(await findDrivers(machine({}))).toEqual([]);
  expect(await findDrivers(machine({}, { platform: "freebsd" }))).toEqual([]);
});
