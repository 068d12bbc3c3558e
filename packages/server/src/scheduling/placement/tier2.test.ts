import { describe, expect, it } from "vitest";
import { SomnusError } from "../../http/errors.js";
import { hostMemory, memoryTerms } from "../__fixtures__/host-memory.js";
import { request, scheduling, scriptedEngine } from "../__fixtures__/scripted-engine.js";
import { scriptedKeeper } from "../__fixtures__/scripted-keeper.js";
import type { Schedulable, Scheduler } from "../index.js";

const signal = new AbortController().signal;
const nobody = () => {};

function tiers(
  options: {
    keeper?: Parameters<typeof scriptedKeeper>[0];
    keepWarm?: boolean;
    tier2Bytes?: number;
  } = {},
) {
  const { engine, plans, ended } = scriptedEngine();
  const { keeper, held } = scriptedKeeper(options.keeper);
  const memory = hostMemory(100_000);
  memory.budgets.tier2Bytes = options.tier2Bytes ?? 50_000;
  const { scheduler, model } = scheduling(engine, { keeper, memory });
  const terms = { ...memoryTerms("m", 40_000), keepWarm: options.keepWarm ?? false };
  const made: Schedulable = { ...model, terms: { ...model.terms, memory: terms } };
  return { scheduler, model: made, plans, ended, held };
}

/** A keeping that only its signal ends. */
function hangs(_path: string, abort: AbortSignal): Promise<void> {
  return new Promise((_, reject) => {
    abort.addEventListener("abort", () => reject(abort.reason), { once: true });
  });
}

async function answered(scheduler: Scheduler, model: Schedulable, keepAliveMs: number | null) {
  const lease = await scheduler.admit(model, request(), { keepAliveMs, signal });
  const { admission } = lease;
  lease.release();
  return admission;
}

describe("tier 2", () => {
  it("takes a model from disk, and gives it back", async () => {
    const { scheduler, model, held, plans } = tiers();
    await scheduler.keepWeights(model, signal);
    expect(held).toEqual(["/m.gguf"]);
    expect(scheduler.activity("m")).toMatchObject({
      phase: "unloaded",
      tier: "tier2_pinned_ram",
      kept: { phase: "kept", bytes: 40_000 },
    });
    expect(scheduler.lockedBytes()).toBe(60);
    expect(scheduler.bookings()).toMatchObject([{ hostBytes: 0, keptBytes: 40_000 }]);
    await scheduler.keepWeights(model, signal);
    await scheduler.demote("m", signal);
    expect(held).toEqual([]);
    expect(scheduler.activity("m")).toMatchObject({ tier: "tier3_nvme_ssd", kept: null });
    expect(scheduler.bookings()).toEqual([]);
    expect(plans).toEqual([]);
    await scheduler.close();
  });

  it("takes an idle model's engine away and keeps its weights; a request brings it back", async () => {
    const { scheduler, model, held, ended } = tiers();
    expect((await answered(scheduler, model, null)).previousTier).toBe("tier3_nvme_ssd");
    await scheduler.keepWeights(model, signal);
    expect(ended()).toBe(1);
    expect(scheduler.activity("m")).toMatchObject({ phase: "unloaded", tier: "tier2_pinned_ram" });
    expect((await answered(scheduler, model, null)).previousTier).toBe("tier2_pinned_ram");
    expect(scheduler.activity("m").tier).toBe("tier1_gpu_vram");
    expect((await answered(scheduler, model, null)).previousTier).toBe("tier1_gpu_vram");
    // On the host the engine maps the same pages.
    await expect.poll(() => held).toEqual([]);
    const { reloadMs, warmReloadMs } = scheduler.activity("m");
    expect(reloadMs).toBeGreaterThan(0);
    expect(warmReloadMs).toBeGreaterThan(0);
    await scheduler.close();
  });

  it("is where a model that is kept warm goes when it is idle", async () => {
    const { scheduler, model, held } = tiers({ keepWarm: true });
    await answered(scheduler, model, 0);
    await expect.poll(() => scheduler.activity("m").tier).toBe("tier2_pinned_ram");
    expect(held).toEqual(["/m.gguf"]);
    await scheduler.close();
  });

  it("refuses a model that does not fit, with the numbers, and leaves its engine alone", async () => {
    const { scheduler, model, ended } = tiers({ tier2Bytes: 30_000 });
    await scheduler.preload(model, nobody, signal);
    await expect(scheduler.keepWeights(model, signal)).rejects.toMatchObject({
      code: "insufficient_memory",
      message: expect.stringMatching(/takes .* GiB, but of the .* GiB for kept weights/),
    });
    expect(ended()).toBe(0);
    await scheduler.close();
  });

  it("refuses a model in use", async () => {
    const { scheduler, model } = tiers();
    const lease = await scheduler.admit(model, request(), { keepAliveMs: null, signal });
    await expect(scheduler.keepWeights(model, signal)).rejects.toMatchObject({
      code: "model_busy",
    });
    lease.release();
    await scheduler.close();
  });

  it("leaves a model that could not be kept on disk, says why, and serves its next request", async () => {
    const { scheduler, model, held } = tiers({
      keepWarm: true,
      keeper: {
        keep: async () => {
          throw new SomnusError("model_unavailable", "m.gguf cannot be kept in memory: cut.");
        },
      },
    });
    await answered(scheduler, model, null);
    await expect(scheduler.keepWeights(model, signal)).rejects.toMatchObject({
      code: "model_unavailable",
    });
    expect(scheduler.activity("m")).toMatchObject({
      tier: "tier3_nvme_ssd",
      kept: null,
      keepProblem: "m.gguf cannot be kept in memory: cut.",
    });
    expect(scheduler.bookings()).toEqual([]);
    expect((await answered(scheduler, model, null)).previousTier).toBe("tier3_nvme_ssd");
    expect(held).toEqual([]);
    await scheduler.close();
  });

  it("loses a model whose file is lost, says why, and serves its next request", async () => {
    const { scheduler, model, held } = tiers();
    await scheduler.keepWeights(model, signal);
    scheduler.weightsLost("/other.gguf", "other.gguf is no longer kept in memory.");
    expect(scheduler.activity("m").tier).toBe("tier2_pinned_ram");
    scheduler.weightsLost("/m.gguf", "m.gguf is no longer kept in memory: it was removed.");
    expect(scheduler.activity("m")).toMatchObject({
      tier: "tier3_nvme_ssd",
      kept: null,
      keepProblem: "m.gguf is no longer kept in memory: it was removed.",
    });
    expect(scheduler.bookings()).toEqual([]);
    await expect.poll(() => held).toEqual([]);
    await scheduler.keepWeights(model, signal);
    expect(scheduler.activity("m")).toMatchObject({ tier: "tier2_pinned_ram", keepProblem: null });
    await scheduler.close();
  });

  it("ends what is being brought in when the model has to leave, or the server ends", async () => {
    const { scheduler, model, held } = tiers({ keeper: { keep: hangs } });
    const kept = scheduler.keepWeights(model, signal);
    const gone = scheduler.demote("m", signal);
    await expect(kept).rejects.toMatchObject({ code: "model_busy" });
    await gone;
    expect(scheduler.activity("m").kept).toBeNull();
    const again = scheduler.keepWeights(model, signal);
    const ended = expect(again).rejects.toMatchObject({ code: "shutting_down" });
    await scheduler.close();
    await ended;
    expect(held).toEqual([]);
    await expect(scheduler.keepWeights(model, signal)).rejects.toMatchObject({
      code: "shutting_down",
    });
  });

  it("gives way to a request for a model that is being brought in", async () => {
    const { scheduler, model, held } = tiers({ keeper: { keep: hangs } });
    const kept = scheduler.keepWeights(model, signal);
    const refused = expect(kept).rejects.toMatchObject({
      code: "model_busy",
      message: "m was asked for, and is loaded now.",
    });
    await answered(scheduler, model, null);
    await refused;
    await expect.poll(() => scheduler.activity("m").kept).toBeNull();
    expect(held).toEqual([]);
    await scheduler.close();
  });

  it("may be left by one who waits for it, and by no other", async () => {
    let finish = () => {};
    const bringing = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { scheduler, model } = tiers({ keeper: { keep: () => bringing } });
    const leave = new AbortController();
    const left = scheduler.keepWeights(model, leave.signal);
    const stays = scheduler.keepWeights(model, signal);
    leave.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    finish();
    await stays;
    await scheduler.close();
  });
});
