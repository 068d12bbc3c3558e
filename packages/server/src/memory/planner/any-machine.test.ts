import fc from "fast-check";
import { expect, it } from "vitest";
import type { Estimate } from "../estimate-types.js";
import { rankOf } from "../eviction/index.js";
import type { Budgets } from "./budgets.js";
import { plan } from "./plan.js";
import type { Costs, Plan, Resident, Wanted } from "./terms.js";

// Whatever the machine, its residents and the model wanted: sizes are small whole numbers, so that
// limits are hit often and sums are exact.

const RUNS = 1000;

const priority = fc.constantFrom("low", "normal", "high", "realtime_pinned" as const);
const few = fc.nat({ max: 40 });

const bandwidths = { diskToHost: 3, hostToDevice: 20, host: 40 };

const machine = fc
  .record({
    devices: fc.array(fc.nat({ max: 120 }), { maxLength: 3 }),
    unaccounted: fc.nat({ max: 10 }),
    host: fc.nat({ max: 200 }),
    unified: fc.boolean(),
    maps: fc.boolean(),
    tier2: fc.nat({ max: 100 }),
    cap: fc.option(fc.nat({ max: 200 })),
  })
  .map(
    (any): Budgets => ({
      devices: any.devices.map((bytes, i) => ({
        name: `GPU ${i}`,
        bytes,
        unaccountedBytes: any.unaccounted,
      })),
      host: { bytes: any.host, unaccountedBytes: any.unaccounted },
      unified: any.unified && any.devices.length === 1,
      deviceMapsWeights: any.unified && any.maps && any.devices.length === 1,
      tier2Bytes: any.tier2,
      processMemoryCapBytes: any.cap,
      ownBytes: 2,
      bandwidths,
    }),
  );

const estimate = fc
  .record({
    layers: fc.array(
      fc.record({
        weights: fc.nat({ max: 9 }),
        experts: fc.nat({ max: 9 }),
        kv: fc.nat({ max: 6 }),
      }),
      {
        maxLength: 9,
      },
    ),
    dense: fc.boolean(),
    inputWeights: fc.nat({ max: 9 }),
    outputWeights: fc.nat({ max: 9 }),
    projectorWeights: fc.nat({ max: 5 }),
    device: fc.nat({ max: 9 }),
    host: fc.nat({ max: 9 }),
  })
  .map(
    ({ layers, dense, device, host, ...rest }): Estimate => ({
      ...rest,
      layers: dense ? layers.map((layer) => ({ ...layer, experts: 0 })) : layers,
      workspace: { device, host },
      process: { device: 1, host: 1 },
      kvBytesPerToken: 0.001,
      correction: 1,
    }),
  );

const wanted = fc
  .record({
    estimate,
    artifact: fc.constantFrom("a", "b", "new"),
    priority,
    contextTokens: fc.integer({ min: 1, max: 4000 }),
    firm: fc.double({ min: 0, max: 1, noNaN: true }),
    least: fc.double({ min: 0, max: 1, noNaN: true }),
    gpuLayers: fc.oneof(fc.constant("auto" as const), fc.nat({ max: 9 })),
    moeOffload: fc.constantFrom("off" as const, "auto" as const, "on" as const),
    cpuExpertLayers: fc.option(fc.nat({ max: 9 })),
    minGpuLayerRatio: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  })
  .map(
    ({ firm, least, ...rest }): Wanted => ({
      ...rest,
      model: "wanted",
      artifactBytes: fileOf(rest.estimate),
      slots: 1,
      firmContextTokens: Math.ceil(rest.contextTokens * firm),
      leastContextTokens: Math.max(1, Math.ceil(rest.contextTokens * least)),
      activeExpertShare: null,
      tier: "tier3_nvme_ssd",
      mayEvict: true,
    }),
  );

const fileOf = (one: Estimate) =>
  one.inputWeights +
  one.outputWeights +
  one.layers.reduce((sum, layer) => sum + layer.weights + layer.experts, 0);

const residents = fc
  .array(
    fc.record({
      artifact: fc.constantFrom("a", "b", "c", "d"),
      devices: fc.tuple(few, few, few),
      own: few,
      mapped: few,
      kept: few,
      held: fc.option(fc.constantFrom("leased", "claimed", "loading" as const), { freq: 3 }),
      keepWarm: fc.boolean(),
      priority,
      tier1: fc.boolean(),
    }),
    { maxLength: 8 },
  )
  .map((all): Resident[] =>
    all.map((one, i) => ({
      model: `m${i}`,
      artifact: one.artifact,
      artifactBytes: 40,
      tier: one.tier1 ? "tier1_gpu_vram" : "tier2_pinned_ram",
      priority: one.priority,
      held: one.held,
      keepWarm: one.keepWarm,
      deviceBytes: one.tier1 ? one.devices : [],
      hostBytes: one.tier1 ? one.own + one.mapped : 0,
      mappedBytes: one.tier1 ? one.mapped : 0,
      keptBytes: one.kept,
    })),
  );

const costs = fc
  .array(fc.tuple(fc.nat({ max: 20 }), fc.nat({ max: 9000 })), { minLength: 8, maxLength: 8 })
  .map(
    (all): Costs => ({
      models: new Map(
        all.map(([expectedPerMinute, reload], i) => [
          `m${i}`,
          { expectedPerMinute, reloadMs: { fromTier2: reload / 3, fromTier3: reload } },
        ]),
      ),
      bandwidths,
    }),
  );

/** What is booked after a plan, added up in the plainest way. */
function booked(budgets: Budgets, all: readonly Resident[], wanted: Wanted, made: Plan) {
  const toTier = new Map(made.victims.map((victim) => [victim.model, victim.toTier]));
  const devices = budgets.devices.map((_, i) => made.placement.deviceBytes[i] ?? 0);
  let host = made.placement.hostBytes - made.placement.mappedBytes;
  const maps = new Map<string, { size: number; sum: number }>();
  const map = (artifact: string, size: number, bytes: number) => {
    const entry = maps.get(artifact) ?? { size: 0, sum: 0 };
    maps.set(artifact, { size: Math.max(size, entry.size), sum: entry.sum + bytes });
  };
  map(wanted.artifact, wanted.artifactBytes, made.placement.mappedBytes);
  let kept = 0;
  for (const one of all) {
    if (toTier.get(one.model) === "tier2_pinned_ram") {
      map(one.artifact, one.artifactBytes, one.artifactBytes);
      kept += one.artifactBytes;
      continue;
    }
    // The size of an artifact is known whether it is resident or not.
    map(one.artifact, one.artifactBytes, 0);
    if (toTier.has(one.model)) continue;
    for (let i = 0; i < devices.length; i++) devices[i]! += one.deviceBytes[i] ?? 0;
    host += one.hostBytes - one.mappedBytes;
    map(one.artifact, one.artifactBytes, one.mappedBytes + one.keptBytes);
    kept += one.keptBytes;
  }
  for (const { size, sum } of maps.values()) host += Math.min(size, sum);
  if (budgets.unified) for (const bytes of devices) host += bytes;
  return { devices, host, kept };
}

it("never plans beyond a budget", () => {
  fc.assert(
    fc.property(machine, residents, wanted, costs, (budgets, all, one, known) => {
      const made = plan(budgets, all, one, known);
      if (!made.accepted) return;
      const { devices, host, kept } = booked(budgets, all, one, made);
      made.placement.deviceBytes.forEach((bytes, i) => {
        const { bytes: most, unaccountedBytes } = budgets.devices[i]!;
        if (bytes > 0) expect(devices[i]).toBeLessThanOrEqual(most - unaccountedBytes);
      });
      const cap = budgets.processMemoryCapBytes ?? Number.POSITIVE_INFINITY;
      const most = Math.min(budgets.host.bytes - budgets.host.unaccountedBytes, cap);
      expect(host + budgets.ownBytes).toBeLessThanOrEqual(most);
      if (made.victims.some((victim) => victim.toTier === "tier2_pinned_ram")) {
        expect(kept).toBeLessThanOrEqual(budgets.tier2Bytes);
      }
    }),
    { numRuns: RUNS },
  );
});

it("gives every part of the model its place", () => {
  fc.assert(
    fc.property(machine, residents, wanted, costs, (budgets, all, one, known) => {
      const made = plan(budgets, all, one, known);
      if (!made.accepted) return;
      const { layersOnDevice, deviceBytes, hostBytes, mappedBytes, kind, contextTokens } =
        made.placement;
      const layers = Math.max(1, one.estimate.layers.length);
      const onDevices = layersOnDevice.reduce((sum, count) => sum + count, 0);
      expect(onDevices).toBeLessThanOrEqual(layers);
      expect(kind === "cpu").toBe(onDevices === 0);
      expect(kind === "split").toBe(onDevices > 0 && onDevices < layers);
      expect(contextTokens).toBeGreaterThanOrEqual(
        Math.min(one.leastContextTokens, one.contextTokens),
      );
      expect(contextTokens).toBeLessThanOrEqual(one.contextTokens);
      for (let i = 0; i < layersOnDevice.length; i++) {
        if (layersOnDevice[i] === 0) expect(deviceBytes[i]).toBe(0);
      }
      // Every part is somewhere, and once: weights, KV memory, and buffers wherever layers are.
      const { layers: parts, kvBytesPerToken, workspace, process } = one.estimate;
      const devices = deviceBytes.filter((bytes) => bytes > 0).length;
      const total = deviceBytes.reduce((sum, bytes) => sum + bytes, hostBytes);
      const kv = parts.reduce((sum, layer) => sum + layer.kv, 0);
      const beside = workspace.host + process.host + devices * (workspace.device + process.device);
      const most = fileOf(one.estimate) + one.estimate.projectorWeights + kv + beside;
      const dropped = Math.min(kv, (one.contextTokens - contextTokens) * kvBytesPerToken);
      // A fraction of a byte is a byte, on each device and on the host.
      expect(total).toBeGreaterThanOrEqual(most - dropped - 0.001);
      expect(total).toBeLessThanOrEqual(most - dropped + devices + 2);
      expect(mappedBytes).toBeLessThanOrEqual(one.artifactBytes);
    }),
    { numRuns: RUNS },
  );
});

it("sends nobody away who is in use or of higher priority, and says where the others go", () => {
  fc.assert(
    fc.property(machine, residents, wanted, costs, (budgets, all, one, known) => {
      const made = plan(budgets, all, one, known);
      if (!made.accepted) return;
      const names = made.victims.map((victim) => victim.model);
      expect(new Set(names).size).toBe(names.length);
      for (const { model, toTier } of made.victims) {
        const victim = all.find((resident) => resident.model === model)!;
        expect(victim.held).toBeNull();
        expect(rankOf(victim.priority)).toBeLessThanOrEqual(rankOf(one.priority));
        if (toTier === "tier2_pinned_ram") expect(victim.keepWarm).toBe(true);
      }
    }),
    { numRuns: RUNS },
  );
});

it("refuses nothing with more memory that it accepts with less", () => {
  const more = fc.record({
    devices: fc.tuple(few, few, few),
    host: few,
    cap: fc.oneof(few, fc.constant(Number.POSITIVE_INFINITY)),
    tier2: few,
  });
  fc.assert(
    fc.property(machine, residents, wanted, costs, more, (budgets, all, one, known, added) => {
      const larger: Budgets = {
        ...budgets,
        devices: budgets.devices.map((device, i) => ({
          ...device,
          bytes: device.bytes + added.devices[i]!,
        })),
        host: { ...budgets.host, bytes: budgets.host.bytes + added.host },
        tier2Bytes: budgets.tier2Bytes + added.tier2,
        processMemoryCapBytes:
          budgets.processMemoryCapBytes === null || added.cap === Number.POSITIVE_INFINITY
            ? null
            : budgets.processMemoryCapBytes + added.cap,
      };
      if (!plan(budgets, all, one, known).accepted) return;
      expect(plan(larger, all, one, known)).toMatchObject({ accepted: true });
    }),
    { numRuns: RUNS },
  );
});

it("sends nobody away who could stay", () => {
  fc.assert(
    fc.property(machine, residents, wanted, costs, (budgets, all, anyContext, known) => {
      // With one context only, what is left over goes nowhere.
      const { contextTokens } = anyContext;
      const one = {
        ...anyContext,
        firmContextTokens: contextTokens,
        leastContextTokens: contextTokens,
      };
      const made = plan(budgets, all, one, known);
      if (!made.accepted) return;
      const gone = new Set(made.victims.map((victim) => victim.model));
      for (const { model } of made.victims) {
        const rest = all.filter((other) => other.model === model || !gone.has(other.model));
        const without = plan(budgets, rest, { ...one, mayEvict: false }, known);
        if (!without.accepted) continue;
        const layers = (placement: Plan["placement"]) =>
          placement.layersOnDevice.reduce((sum, count) => sum + count, 0);
        const worse =
          layers(without.placement) < layers(made.placement) ||
          without.placement.cpuExpertLayers > made.placement.cpuExpertLayers;
        expect(worse, `${model} could have stayed`).toBe(true);
      }
    }),
    { numRuns: RUNS },
  );
});

it("evicts for a whole placement only what costs less than the worse one", () => {
  fc.assert(
    fc.property(machine, residents, wanted, costs, (budgets, all, one, known) => {
      const made = plan(budgets, all, one, known);
      if (!made.accepted) return;
      if (!made.victims.some((victim) => victim.reason === "full_gpu_placement")) return;
      const stays = plan(budgets, all, { ...one, mayEvict: false }, known);
      if (!stays.accepted) throw new Error("nothing was to be made whole");
      expect(stays.placement.kind).not.toBe("gpu");
      const rate = 0.1;
      expect(made.cost.lossMsPerMinute + made.cost.slowerMsPerRequest * rate).toBeLessThan(
        stays.cost.slowerMsPerRequest * rate,
      );
    }),
    { numRuns: RUNS },
  );
});

it("makes the same plan from the same facts, and changes none of them", () => {
  fc.assert(
    fc.property(machine, residents, wanted, costs, (budgets, all, one, known) => {
      const before = structuredClone({ budgets, all, one });
      const made = plan(budgets, all, one, known);
      expect({ budgets, all, one }).toEqual(before);
      expect(
        plan(structuredClone(budgets), structuredClone(all), structuredClone(one), known),
      ).toEqual(made);
    }),
    { numRuns: 300 },
  );
});

it("refuses with a shortage that is one, or because layers of the wrong size do not fill the devices", () => {
  fc.assert(
    fc.property(machine, residents, wanted, costs, (budgets, all, one, known) => {
      const made = plan(budgets, all, one, known);
      if (made.accepted) return;
      expect(made.reason).not.toBe("");
      for (const { where, neededBytes, freeBytes, freeAfterEvictionsBytes } of made.shortages) {
        expect(freeAfterEvictionsBytes).toBeGreaterThanOrEqual(freeBytes);
        if (where.includes(" and ")) continue;
        expect(neededBytes).toBeGreaterThan(freeAfterEvictionsBytes);
      }
    }),
    { numRuns: RUNS },
  );
});
