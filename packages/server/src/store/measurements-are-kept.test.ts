import { describe, expect, it } from "vitest";
import { correction, keptLog, load } from "./__fixtures__/rows.js";
import {
  correctionsFor,
  openStore,
  reloadTimes,
  saveCorrection,
  saveLoad,
  saveServiceTimes,
  serviceTimes,
} from "./index.js";

const open = () => openStore({ memory: true, log: keptLog() });

describe("corrections of memory", () => {
  it("are the latest for their settings, with the number of loads, this build's first", async () => {
    const store = await open();
    saveCorrection(store, correction({ at: 1 }));
    saveCorrection(store, correction({ at: 2, measured: { weights: 99, kv: 51 } }));
    saveCorrection(store, correction({ at: 3, settings: "ctx=4096" }));
    saveCorrection(store, correction({ at: 4, engineBuild: "b2" }));
    saveCorrection(store, correction({ at: 5, modelDigest: "sha256:2" }));
    const found = await correctionsFor(store, "sha256:1", "b1");
    expect(
      found.map(({ engineBuild, settings, loads, at }) => [engineBuild, settings, loads, at]),
    ).toEqual([
      ["b1", "ctx=4096", 1, 3],
      ["b1", "ctx=8192", 2, 2],
      ["b2", "ctx=8192", 1, 4],
    ]);
    expect(found[1]).toEqual({
      ...correction({ at: 2, measured: { weights: 99, kv: 51 } }),
      loads: 2,
    });
    expect(await correctionsFor(store, "sha256:3", "b1")).toEqual([]);
    await store.close();
  });
});

describe("times of loads", () => {
  it("are the median of the latest, for each model and tier", async () => {
    const store = await open();
    for (let at = 1; at <= 20; at += 1) saveLoad(store, load(at * 10, { at }));
    saveLoad(store, load(7, { at: 99, fromTier: "tier2_pinned_ram", bytes: null }));
    saveLoad(store, load(3, { model: "n", at: 1 }));
    saveLoad(store, load(5, { model: "n", at: 2 }));
    expect(await reloadTimes(store)).toEqual([
      { model: "m", fromTier: "tier2_pinned_ram", medianMs: 7, lastMs: 7, bytes: null, loads: 1 },
      // 15 of the 20: 60 to 200.
      {
        model: "m",
        fromTier: "tier3_nvme_ssd",
        medianMs: 130,
        lastMs: 200,
        bytes: 1000,
        loads: 15,
      },
      { model: "n", fromTier: "tier3_nvme_ssd", medianMs: 4, lastMs: 5, bytes: 1000, loads: 2 },
    ]);
    await store.close();
  });
});

describe("service times", () => {
  it("are the last that was saved for a model and measure", async () => {
    const store = await open();
    const average = {
      model: "m",
      measure: "service_ms",
      mean: 10,
      deviation: null,
      samples: 3,
      at: 1,
    };
    saveServiceTimes(store, [average, { ...average, measure: "requests_per_minute", mean: 2.5 }]);
    saveServiceTimes(store, [{ ...average, mean: 12, deviation: 0.5, samples: 4 }]);
    expect(await serviceTimes(store)).toEqual([
      { ...average, measure: "requests_per_minute", mean: 2.5 },
      { ...average, mean: 12, deviation: 0.5, samples: 4 },
    ]);
    await store.close();
  });
});
