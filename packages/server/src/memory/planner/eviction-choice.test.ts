import { describe, expect, it } from "vitest";
import { costs, fileBytes, resident, want } from "./__fixtures__/known-models.js";
import { budgets, CPU_16, GPU_24 } from "./__fixtures__/machines.js";
import { plan } from "./plan.js";
import type { Plan, Refusal, Resident } from "./terms.js";

const placed = (made: Plan | Refusal): Plan => {
  if (!made.accepted) throw new Error(made.reason);
  return made;
};
const gone = (made: Plan | Refusal) => placed(made).victims.map((victim) => victim.model);

/** Needs all but about 6 GB of a 24 GB GPU. */
const LARGE = want("moe26b", { minGpuLayerRatio: 1 });

describe("who goes", () => {
  const two = [resident("a", { devices: [6] }), resident("b", { devices: [6] })];

  it("is the one whose reload costs least for the requests it gets", () => {
    const models = costs({ a: [2, 3000], b: [1, 4000] });
    expect(gone(plan(GPU_24, two, LARGE, models))).toEqual(["b"]);
    expect(gone(plan(GPU_24, two, LARGE, costs({ a: [1, 3000], b: [1, 4000] })))).toEqual(["a"]);
  });

  it("is one of lower priority, whatever it costs", () => {
    const [a, b] = two as [Resident, Resident];
    const models = costs({ a: [100, 60_000], b: [0, 1] });
    const made = plan(GPU_24, [{ ...a, priority: "low" }, b], LARGE, models);
    expect(gone(made)).toEqual(["a"]);
  });

  it("is nobody of higher priority", () => {
    const [a, b] = two.map((one) => ({ ...one, priority: "high" as const }));
    const made = plan(GPU_24, [a!, b!], LARGE, costs());
    if (made.accepted) throw new Error(made.reason);
    expect(made.kept).toEqual([
      { model: "a", why: "higher_priority" },
      { model: "b", why: "higher_priority" },
    ]);
    expect(made.shortages[0]).toMatchObject({
      freeBytes: GPU_24.devices[0]!.bytes - 12e9,
      freeAfterEvictionsBytes: GPU_24.devices[0]!.bytes - 12e9,
    });
  });

  it.each(["leased", "claimed", "loading", "leaving", "pinned", "spared"] as const)(
    "is nobody who is %s",
    (held) => {
      const models = costs({ a: [0, 1], b: [50, 60_000] });
      const made = plan(GPU_24, [{ ...two[0]!, held }, two[1]!], LARGE, models);
      expect(gone(made)).toEqual(["b"]);
    },
  );

  it("is nobody for a request that may evict nothing", () => {
    const made = plan(GPU_24, two, { ...LARGE, mayEvict: false }, costs());
    expect(made.accepted).toBe(false);
  });

  it("is one dear model rather than two that cost more together", () => {
    const residents = [
      resident("a", { devices: [3] }),
      resident("b", { devices: [3] }),
      resident("c", { devices: [6] }),
    ];
    const models = costs({ a: [1, 3000], b: [1, 3000], c: [1, 5000] });
    expect(gone(plan(GPU_24, residents, LARGE, models))).toEqual(["c"]);
    const cheap = costs({ a: [1, 2000], b: [1, 2000], c: [1, 5000] });
    expect(gone(plan(GPU_24, residents, LARGE, cheap))).toEqual(["a", "b"]);
  });

  it("is nobody whose memory is elsewhere, when a part of the model is to fit the GPU", () => {
    const residents = [
      resident("on the host", { host: 1 }),
      resident("small", { devices: [1] }),
      resident("large", { devices: [21.5] }),
    ];
    const models = costs({ "on the host": [0, 1], small: [0, 2], large: [0, 3000] });
    const made = placed(
      plan(GPU_24, residents, want("dense70b", { minGpuLayerRatio: 0.4 }), models),
    );
    expect(made.placement.kind).toBe("split");
    expect(gone(made)).toEqual(["small", "large"]);
  });

  it("tells why: memory_budget", () => {
    const made = placed(plan(GPU_24, two, LARGE, costs()));
    expect(made.victims[0]!.reason).toBe("memory_budget");
    expect(made.reason).toContain("has to go for it.");
  });
});

describe("a placement that could be whole", () => {
  const idle = resident("idle", { devices: [20] });

  it("sends an idle model away when that costs less than a split", () => {
    const models = costs({ idle: [0, 3000], dense8b: [2, 3000] });
    const made = placed(plan(GPU_24, [idle], want("dense8b"), models));
    expect(made.placement.kind).toBe("gpu");
    expect(made.victims).toMatchObject([{ model: "idle", reason: "full_gpu_placement" }]);
  });

  it("stays split when the other is used more than it slows this one down", () => {
    const models = costs({ idle: [60, 60_000] });
    const made = placed(plan(GPU_24, [idle], want("dense8b"), models));
    expect(made.placement.kind).toBe("split");
    expect(made.victims).toEqual([]);
  });
});

describe("where a victim goes", () => {
  const warm = (changes: Partial<Resident> = {}) =>
    resident("warm", { devices: [20] }, { keepWarm: true, ...changes });

  it("is tier 2 when it is to be kept warm and there is room", () => {
    const made = placed(plan(GPU_24, [warm()], LARGE, costs({ warm: [1, 8000] })));
    expect(made.victims).toMatchObject([
      { model: "warm", toTier: "tier2_pinned_ram", reloadMs: 4000 },
    ]);
  });

  it("is the disk when nobody asked to keep it warm", () => {
    const made = placed(plan(GPU_24, [warm({ keepWarm: false })], LARGE, costs()));
    expect(made.victims[0]!.toTier).toBe("tier3_nvme_ssd");
  });

  it("is the disk when tier 2 is too small for it", () => {
    const small = budgets({ vram: [24], ram: 64 }, { tier2Bytes: 10e9 });
    const made = placed(plan(small, [warm()], LARGE, costs()));
    expect(made.victims[0]!.toTier).toBe("tier3_nvme_ssd");
  });

  it("is the disk when the host has no room beside the new model", () => {
    const made = placed(
      plan(
        CPU_16,
        [resident("warm", { host: 12, mapped: 11 }, { keepWarm: true })],
        want("dense8b"),
        costs(),
      ),
    );
    expect(made.victims[0]!.toTier).toBe("tier3_nvme_ssd");
  });

  it("is the disk for pages that tier 2 itself has to give up", () => {
    const kept = resident("kept", { kept: 10 }, { keepWarm: true });
    const made = placed(plan(CPU_16, [kept], want("dense8b"), costs()));
    expect(made.victims).toMatchObject([{ model: "kept", toTier: "tier3_nvme_ssd" }]);
  });
});

describe("the process memory cap", () => {
  it("is the reason when only it makes models go", () => {
    const capped = budgets({ ram: 64 }, { processMemoryCapBytes: 10e9 });
    const made = placed(plan(capped, [resident("a", { host: 6 })], want("dense8b"), costs()));
    expect(made.victims).toMatchObject([{ model: "a", reason: "process_memory_cap" }]);
  });
});

describe("the model itself", () => {
  it("may be resident: its engine is replaced, not evicted", () => {
    const own = resident("dense8b", { devices: [20] });
    const made = placed(plan(GPU_24, [own], want("dense8b"), costs()));
    expect(made.victims).toEqual([]);
    expect(made.placement.kind).toBe("gpu");
  });

  it("keeps its own pages in tier 2 unless they are in the way", () => {
    const bytes = fileBytes("dense70b");
    const own = resident(
      "dense70b",
      { kept: 1 },
      {
        artifact: "dense70b.gguf",
        artifactBytes: bytes,
        keptBytes: bytes,
      },
    );
    const roomy = budgets({ vram: [24, 24, 24], ram: 64 });
    const wanted = want("dense70b", { minGpuLayerRatio: 1, tier: "tier2_pinned_ram" });
    expect(placed(plan(roomy, [own], wanted, costs())).releasesOwnPages).toBe(false);
    const tight = budgets({ vram: [24, 24, 24], ram: 44 });
    expect(placed(plan(tight, [own], wanted, costs())).releasesOwnPages).toBe(true);
  });
});
