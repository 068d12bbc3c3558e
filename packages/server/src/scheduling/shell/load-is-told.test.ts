import { expect, it } from "vitest";
import { request, scheduling, scriptedEngine } from "../__fixtures__/scripted-engine.js";

const wait = { keepAliveMs: null, signal: new AbortController().signal };

it("tells a load on the request that it is made for, also when it only enlarges the context", async () => {
  const { engine, plans } = scriptedEngine({
    load: () => new Promise((resolve) => setImmediate(resolve)),
  });
  const { scheduler, model } = scheduling(engine);
  const cold = await scheduler.admit(model, request(), wait);
  expect(cold.admission).toMatchObject({ previousTier: "tier3_nvme_ssd", load: { totalMs: 1 } });
  expect(cold.admission.loadMs).toBeGreaterThan(0);

  const second = scheduler.admit(model, request(), wait);
  const large = scheduler.admit(model, request({ contextTokens: 8_192 }), wait);
  cold.release();
  const warm = await second;
  expect(warm.admission).toMatchObject({ previousTier: "tier1_gpu_vram", loadMs: 0 });
  expect(warm.admission.load).toBeUndefined();

  warm.release();
  const rebuilt = await large;
  expect(rebuilt.admission).toMatchObject({ previousTier: "tier1_gpu_vram", load: { totalMs: 1 } });
  expect(rebuilt.admission.loadMs).toBeGreaterThan(0);
  expect(plans.map((plan) => plan.contextTokens)).toEqual([4_096, 8_192]);
  rebuilt.release();
  await scheduler.close();
});
