import { describe, expect, it } from "vitest";
import { costs, resident, want } from "./__fixtures__/known-models.js";
import { budgets, CPU_16, GPU_8, GPU_24, MAC_16, TWO_GPUS } from "./__fixtures__/machines.js";
import { plan } from "./plan.js";
import type { Plan, Refusal } from "./terms.js";

const placed = (made: Plan | Refusal): Plan => {
  if (!made.accepted) throw new Error(made.reason);
  return made;
};

describe("one 24 GB GPU", () => {
  it("takes an 8B model whole", () => {
    const made = placed(plan(GPU_24, [], want("dense8b"), costs()));
    expect(made.placement).toMatchObject({
      kind: "gpu",
      layersOnDevice: [32],
      cpuExpertLayers: 0,
      contextTokens: 8192,
    });
    // 32 layers, output, KV of 8192 tokens, buffers, process.
    expect(made.placement.deviceBytes).toEqual([
      32 * 131e6 + 431e6 + 32 * 4096 * 8192 + 300e6 + 350e6,
    ]);
    expect(made.placement.hostBytes).toBe(295e6 + 40e6 + 150e6);
    expect(made.placement.mappedBytes).toBe(295e6);
    expect(made.victims).toEqual([]);
    expect(made.reason).toBe("All 32 layers are on GPU 0.");
  });

  it("takes a 26B mixture of experts whole", () => {
    const made = placed(plan(GPU_24, [], want("moe26b"), costs()));
    expect(made.placement).toMatchObject({ kind: "gpu", layersOnDevice: [30] });
  });

  it("splits a 70B model, as many layers as fit on the GPU", () => {
    const made = placed(plan(GPU_24, [], want("dense70b"), costs()));
    const { kind, layersOnDevice, deviceBytes } = made.placement;
    expect(kind).toBe("split");
    const layer = 512e6 + 4096 * 8192;
    const rest = 860e6 + 650e6;
    expect(layersOnDevice).toEqual([Math.floor((GPU_24.devices[0]!.bytes - rest) / layer)]);
    expect(deviceBytes[0]).toBeLessThanOrEqual(GPU_24.devices[0]!.bytes);
    expect(made.cost.slowerMsPerRequest).toBeGreaterThan(0);
    expect(made.reason).toMatch(/^40 of 80 layers are on GPU 0, the others on the CPU\.$/);
  });

  it("refuses a 70B model that is to have most of its layers there, with the numbers", () => {
    const made = plan(GPU_24, [], want("dense70b", { minGpuLayerRatio: 0.75 }), costs());
    if (made.accepted) throw new Error(made.reason);
    expect(made.code).toBe("insufficient_memory");
    expect(made.shortages).toHaveLength(1);
    const [shortage] = made.shortages;
    expect(shortage!.where).toBe("GPU 0");
    // 60 of 80 layers with the least context.
    expect(shortage!.neededBytes).toBe(60 * (512e6 + 4096 * 4096) + 860e6 + 650e6);
    expect(shortage!.freeBytes).toBe(GPU_24.devices[0]!.bytes);
    expect(made.reason).toBe("dense70b needs 31.0 GiB of GPU 0, but 21.9 GiB is free.");
  });

  it("reduces the context, to no less than the request needs, before it refuses", () => {
    const large = want("dense8b", {
      contextTokens: 262_144,
      leastContextTokens: 32_768,
      minGpuLayerRatio: 1,
    });
    const made = placed(plan(GPU_24, [], large, costs()));
    expect(made.placement.kind).toBe("gpu");
    expect(made.placement.contextTokens).toBeGreaterThanOrEqual(32_768);
    expect(made.placement.contextTokens).toBeLessThan(262_144);
    expect(made.placement.contextTokens % 256).toBe(0);
    // One more step of the context would not fit.
    const left = GPU_24.devices[0]!.bytes - made.placement.deviceBytes[0]!;
    expect(left).toBeLessThan(256 * 32 * 4096);
    expect(made.reason).toContain("of 262144");
  });

  it("keeps a model whole when its default context is what costs it", () => {
    const made = placed(
      plan(
        GPU_24,
        [resident("chat", { devices: [14] }, { held: "leased" })],
        want("dense8b", { contextTokens: 32_768, firmContextTokens: 8192 }),
        costs(),
      ),
    );
    expect(made.placement.kind).toBe("gpu");
    expect(made.placement.contextTokens).toBeGreaterThanOrEqual(8192);
    expect(made.placement.contextTokens).toBeLessThan(32_768);
  });
});

describe("one 8 GB GPU", () => {
  it("has the experts of all layers on the CPU where that is asked for", () => {
    const made = placed(plan(GPU_8, [], want("moe26b", { moeOffload: "on" }), costs()));
    expect(made.placement).toMatchObject({
      kind: "gpu_moe_cpu",
      layersOnDevice: [30],
      cpuExpertLayers: 30,
    });
    expect(made.placement.mappedBytes).toBe(420e6 + 30 * 428e6);
  });

  it("has the experts of as few layers as needed on the CPU, before any layer is split", () => {
    const made = placed(plan(GPU_8, [], want("moe26b", { moeOffload: "auto" }), costs()));
    const { kind, layersOnDevice, cpuExpertLayers, deviceBytes } = made.placement;
    expect(kind).toBe("gpu_moe_cpu");
    expect(layersOnDevice).toEqual([30]);
    expect(cpuExpertLayers).toBeGreaterThan(0);
    expect(cpuExpertLayers).toBeLessThan(30);
    // The experts of one more layer would not fit.
    expect(deviceBytes[0]! + 428e6).toBeGreaterThan(GPU_8.devices[0]!.bytes);
    expect(made.reason).toMatch(/the experts of \d+ of them on the CPU/);
  });

  it("takes a fixed number of expert layers as it is", () => {
    const wanted = want("moe26b", { moeOffload: "auto", cpuExpertLayers: 25 });
    const made = placed(plan(GPU_8, [], wanted, costs()));
    expect(made.placement).toMatchObject({ kind: "gpu_moe_cpu", cpuExpertLayers: 25 });
  });

  it("splits layers of a mixture of experts when its experts stay with them", () => {
    const made = placed(plan(GPU_8, [], want("moe26b"), costs()));
    expect(made.placement).toMatchObject({ kind: "split", cpuExpertLayers: 0 });
  });

  it("honours a fixed number of layers, and refuses what does not fit instead of taking fewer", () => {
    const few = placed(plan(GPU_8, [], want("dense8b", { gpuLayers: 10 }), costs()));
    expect(few.placement).toMatchObject({ kind: "split", layersOnDevice: [10] });
    expect(plan(GPU_8, [], want("dense70b", { gpuLayers: 40 }), costs()).accepted).toBe(false);
  });

  it("leaves the GPU alone when no layers are to be there", () => {
    const made = placed(plan(GPU_8, [], want("dense8b", { gpuLayers: 0 }), costs()));
    expect(made.placement).toMatchObject({ kind: "cpu", layersOnDevice: [0], deviceBytes: [0] });
  });
});

describe("two 24 GB GPUs", () => {
  it("puts a model that fits one of them on one, the fuller one that still holds it", () => {
    const other = resident("chat", { devices: [0, 14] }, { held: "leased" });
    const made = placed(plan(TWO_GPUS, [other], want("dense8b"), costs()));
    expect(made.placement.layersOnDevice).toEqual([0, 32]);
    expect(made.placement.deviceBytes[0]).toBe(0);
  });

  it("splits a 70B model over both, each with its own buffers", () => {
    const made = placed(plan(TWO_GPUS, [], want("dense70b"), costs()));
    const { kind, layersOnDevice, deviceBytes } = made.placement;
    expect(kind).toBe("gpu");
    expect(layersOnDevice[0]! + layersOnDevice[1]!).toBe(80);
    const layer = 512e6 + 4096 * 8192;
    expect(deviceBytes).toEqual([
      layersOnDevice[0]! * layer + 650e6,
      layersOnDevice[1]! * layer + 650e6 + 860e6,
    ]);
    for (const bytes of deviceBytes) expect(bytes).toBeLessThanOrEqual(TWO_GPUS.devices[0]!.bytes);
    expect(made.reason).toBe("All 80 layers are on GPU 0 and GPU 1.");
  });

  it("subtracts what others hold of a device", () => {
    const busy = {
      ...TWO_GPUS,
      devices: TWO_GPUS.devices.map((device, i) =>
        i === 0 ? { ...device, unaccountedBytes: 20e9 } : device,
      ),
    };
    const made = placed(plan(busy, [], want("moe26b"), costs()));
    expect(made.placement.layersOnDevice).toEqual([0, 30]);
  });
});

describe("a Mac with 16 GB", () => {
  it("takes an 8B model whole, its pages booked once", () => {
    const made = placed(plan(MAC_16, [], want("dense8b"), costs()));
    const { kind, mappedBytes, deviceBytes, hostBytes } = made.placement;
    expect(kind).toBe("gpu");
    expect(mappedBytes).toBe(want("dense8b").artifactBytes);
    expect(deviceBytes[0]! + hostBytes - mappedBytes).toBeLessThan(2.3e9);
  });

  it("shares the pages that the keeper holds already", () => {
    const pages = want("dense8b").artifactBytes;
    // With 4.9 GB twice, 6.2 GB of the pool for others would be too much.
    const others = resident("other", { devices: [0.5], host: 4.2 }, { held: "leased" });
    const kept = {
      ...resident("twin", { kept: 1 }, { held: "spared" }),
      artifact: "dense8b.gguf",
      artifactBytes: pages,
      keptBytes: pages,
    };
    expect(plan(MAC_16, [others, kept], want("dense8b"), costs()).accepted).toBe(true);
    expect(
      plan(MAC_16, [others, { ...kept, artifact: "another.gguf" }], want("dense8b"), costs())
        .accepted,
    ).toBe(false);
  });

  it("finds no use in moving experts of a model that is too large", () => {
    const made = plan(MAC_16, [], want("moe26b", { moeOffload: "auto" }), costs());
    expect(made.accepted).toBe(false);
  });
});

describe("a machine with 16 GB and no GPU", () => {
  it("runs an 8B model on the CPU", () => {
    const made = placed(plan(CPU_16, [], want("dense8b"), costs()));
    expect(made.placement).toMatchObject({ kind: "cpu", layersOnDevice: [], deviceBytes: [] });
    expect(made.placement.hostBytes).toBe(
      want("dense8b").artifactBytes + 32 * 4096 * 8192 + 40e6 + 150e6,
    );
  });

  it("books the weights of two models with one artifact once", () => {
    const pages = want("dense8b").artifactBytes;
    const twin = resident(
      "twin",
      { host: 1 },
      {
        artifact: "dense8b.gguf",
        artifactBytes: pages,
        hostBytes: pages + 2e9,
        mappedBytes: pages,
        held: "leased",
      },
    );
    const other = resident("other", { host: 4 }, { held: "leased" });
    expect(placed(plan(CPU_16, [twin, other], want("dense8b"), costs())).victims).toEqual([]);
    const apart = { ...twin, artifact: "copy.gguf" };
    expect(plan(CPU_16, [apart, other], want("dense8b"), costs()).accepted).toBe(false);
  });

  it("refuses a 70B model with what it needs and what there is", () => {
    const made = plan(CPU_16, [], want("dense70b"), costs());
    if (made.accepted) throw new Error(made.reason);
    expect(made.shortages[0]).toMatchObject({ where: "host memory" });
    expect(made.shortages[0]!.neededBytes).toBeGreaterThan(42e9);
  });

  it("names the process memory cap where that is what is too small", () => {
    const capped = budgets({ ram: 16 }, { processMemoryCapBytes: 4e9 });
    const made = plan(capped, [], want("dense8b"), costs());
    if (made.accepted) throw new Error(made.reason);
    expect(made.code).toBe("process_memory_cap");
    expect(made.shortages[0]).toMatchObject({ where: "process memory cap", freeBytes: 3.9e9 });
  });
});
