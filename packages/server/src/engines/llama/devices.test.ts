import { expect, it } from "vitest";
import { parseDevices } from "./devices.js";

it("reads the names of accelerators", () => {
  expect(
    parseDevices(
      "ggml_cuda_init: found 1 CUDA devices:\n  Device 0: NVIDIA\nAvailable devices:\n  CUDA0: NVIDIA H200 (143771 MiB, 140000 MiB free)\n  Vulkan0: llvmpipe (100 MiB, 90 MiB free)\n",
    ),
  ).toEqual(["CUDA0", "Vulkan0"]);
});

it("finds none where there are none", () => {
  expect(parseDevices("Available devices:\n  (none)\n")).toEqual([]);
  expect(parseDevices("")).toEqual([]);
});
