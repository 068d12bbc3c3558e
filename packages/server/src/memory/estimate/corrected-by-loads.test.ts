import { expect, it } from "vitest";
import { SMOLLM2, summary } from "./__fixtures__/summary.js";
import {
  correct,
  estimate,
  type LoadKey,
  type LoadSettings,
  type MeasuredLoad,
  type Measurement,
  measuredLoad,
  settingsKey,
  totalsOf,
} from "./index.js";

const SETTINGS: LoadSettings = {
  contextTokens: 2048,
  slots: 1,
  batchTokens: 512,
  gpuLayers: 0,
  cpuExpertLayers: 0,
  projector: false,
  threads: 2,
};
const KEY: LoadKey = { modelDigest: "m", engineBuild: "b", settings: settingsKey(SETTINGS) };
const ESTIMATED = estimate(summary(SMOLLM2), SETTINGS, { devices: 0 });
const KV = totalsOf(ESTIMATED).kv;

const onHost = (host: number) => ({ device: 0, host });

/** What a load held whose process took `process`, and whose compute buffer was `ratio` of the estimate. */
function measurement(process: number, ratio = 1): Measurement {
  return {
    privateBytes: KV + 196_608 + process - 9_000_000,
    mappedBytes: 96_576_768 + 9_000_000,
    deviceBytes: null,
    buffers: {
      weights: onHost(96_576_768),
      kv: onHost(KV),
      compute: onHost(ESTIMATED.compute!.host * ratio),
      output: onHost(196_608),
    },
  };
}

function load(key: Partial<LoadKey>, process: number, ratio = 1, measuredAt = 0): MeasuredLoad {
  return measuredLoad({ ...KEY, ...key }, ESTIMATED, measurement(process, ratio), measuredAt);
}

it("without a load the estimate is as it was", () => {
  expect(correct(ESTIMATED, [], KEY)).toBe(ESTIMATED);
  const others = [load({ modelDigest: "other" }, 1), load({ engineBuild: "other" }, 1)];
  expect(correct(ESTIMATED, others, KEY)).toBe(ESTIMATED);
});

it("what the process took beside its buffers is told apart from them", () => {
  expect(load({}, 40_000_000).process).toEqual({ device: null, host: 40_000_000 });
});

it("weights that are kept a second time are a part of what the process takes", () => {
  const repacked = { ...ESTIMATED, repackedWeights: 1_000_000 };
  const found = measurement(40_000_000);
  found.buffers.weights.host += 1_000_000;
  expect(measuredLoad(KEY, repacked, found, 0).process.host).toBe(40_000_000);
});

it("a second load with the same settings is what the first was", () => {
  const corrected = correct(ESTIMATED, [load({}, 40_000_000, 1.1)], KEY);
  expect(corrected.process.host).toBe(40_000_000);
  expect(corrected.compute!.host).toBe(Math.round(ESTIMATED.compute!.host * 1.1));
  expect(corrected.workspace.host - ESTIMATED.workspace.host).toBe(
    corrected.compute!.host - ESTIMATED.compute!.host,
  );
  expect(corrected.correction).toBe(totalsOf(corrected).total / totalsOf(ESTIMATED).total);
  expect(corrected.layers).toEqual(ESTIMATED.layers);
});

it("of several such loads the newest counts", () => {
  const history = [load({}, 40_000_000, 1, 2), load({}, 30_000_000, 1, 1)];
  expect(correct(ESTIMATED, history, KEY).process.host).toBe(40_000_000);
});

it("loads with other settings count by their median", () => {
  const history = [20_000_000, 90_000_000, 30_000_000].map((process, at) =>
    load({ settings: `other ${at}` }, process, 1 + at / 10),
  );
  const corrected = correct(ESTIMATED, history, KEY);
  expect(corrected.process.host).toBe(30_000_000);
  expect(corrected.compute!.host).toBe(Math.round(ESTIMATED.compute!.host * 1.1));
});

it("a compute buffer that is far off does not carry over in full", () => {
  const corrected = correct(ESTIMATED, [load({}, 1, 50)], KEY);
  expect(corrected.compute!.host).toBe(ESTIMATED.compute!.host * 2);
});

it("what was not measured stays by formula", () => {
  const unmeasured = { ...measurement(1), privateBytes: null };
  const corrected = correct(ESTIMATED, [measuredLoad(KEY, ESTIMATED, unmeasured, 0)], KEY);
  expect(corrected.process).toEqual(ESTIMATED.process);
});

it("a device's own number gives what the process takes of it", () => {
  const device = estimate(summary(SMOLLM2), SETTINGS, { devices: 1 });
  const found: Measurement = {
    privateBytes: null,
    mappedBytes: null,
    deviceBytes: 1_000_000_000,
    buffers: {
      weights: { device: 500_000_000, host: 0 },
      kv: { device: 100_000_000, host: 0 },
      compute: { device: 20_000_000, host: 0 },
      output: { device: 0, host: 0 },
    },
  };
  const corrected = correct(device, [measuredLoad(KEY, device, found, 0)], KEY);
  expect(corrected.process.device).toBe(380_000_000);
});

it("each setting that decides memory is in the key", () => {
  const changes: Partial<LoadSettings>[] = [
    { contextTokens: 4096 },
    { slots: 2 },
    { batchTokens: 128 },
    { cacheTypeK: "q8_0" },
    { cacheTypeV: "q8_0" },
    { fullSlidingWindow: true },
    { flashAttention: false },
    { gpuLayers: 1 },
    { cpuExpertLayers: 1 },
    { projector: true },
    { threads: 1 },
  ];
  const keys = changes.map((change) => settingsKey({ ...SETTINGS, ...change }));
  expect(new Set([...keys, KEY.settings]).size).toBe(changes.length + 1);
  expect(settingsKey({ ...SETTINGS, cacheTypeK: "f16", flashAttention: true })).toBe(KEY.settings);
});

it("a process that seems to take next to nothing is not believed", () => {
  const corrected = correct(ESTIMATED, [load({}, 0)], KEY);
  expect(corrected.process.host).toBe(Math.round(ESTIMATED.process.host / 2));
});
