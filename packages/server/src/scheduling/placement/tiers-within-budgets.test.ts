import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Budgets, type Placement, plan } from "../../memory/index.js";
import "../__fixtures__/runs.js";
import { memoryTerms } from "../__fixtures__/host-memory.js";
import { stepsAbout, take } from "../__fixtures__/steps.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";
import type { MemoryTerms } from "../state/memory-terms.js";
import type { ModelTerms } from "../state/state.js";

const DEVICE = 90_000;
const HOST = 120_000;
const TIER2 = 60_000;

function weighing(id: string, weights: number, more: Partial<MemoryTerms> = {}): ModelTerms {
  return terms(id, weights, { memory: { ...memoryTerms(id, weights), ...more } });
}

const MODELS = [
  weighing("a", 50_000, { keepWarm: true }),
  weighing("b", 40_000, { keepWarm: true, minGpuLayerRatio: 1 }),
  weighing("c", 30_000),
  weighing("d", 20_000, { keepWarm: true, priority: "low" }),
  weighing("same-as-a", 50_000, { artifact: "a" }),
  { ...weighing("short", 15_000, { keepWarm: true, priority: "high" }), idleUnloadMs: 2_000 },
  weighing("host-only", 25_000, { keepWarm: true, gpuLayers: 0 }),
];

function budgets(kind: "discrete" | "processor" | "unified"): Budgets {
  return {
    devices: kind === "processor" ? [] : [{ name: "GPU", bytes: DEVICE, unaccountedBytes: 0 }],
    host: { bytes: HOST, unaccountedBytes: 0 },
    unified: kind === "unified",
    deviceMapsWeights: kind === "unified",
    tier2Bytes: TIER2,
    processMemoryCapBytes: null,
    ownBytes: 1_000,
    bandwidths: { diskToHost: null, hostToDevice: null, host: null },
  };
}

/** What is booked, told in another way than the planner tells it. */
function checkBooked(made: World, machine: Budgets): void {
  let device = 0;
  let host = machine.ownBytes;
  let kept = 0;
  const pages = new Map<string, { bytes: number; size: number }>();
  for (const { placement, pages: held, terms } of made.state.models.values()) {
    const { artifact, artifactBytes: size } = terms.memory!;
    const { deviceBytes, hostBytes, mappedBytes } = placement ?? NOTHING;
    const onDevice = deviceBytes.reduce((sum, bytes) => sum + bytes, 0);
    device += onDevice;
    host += hostBytes - mappedBytes + (machine.unified ? onDevice : 0);
    kept += held.bytes;
    const of = pages.get(artifact) ?? { bytes: 0, size };
    of.bytes += mappedBytes + held.bytes;
    pages.set(artifact, of);
  }
  for (const { bytes, size } of pages.values()) host += Math.min(bytes, size);
  if (machine.devices.length > 0) expect(device).toBeLessThanOrEqual(DEVICE);
  expect(host).toBeLessThanOrEqual(HOST);
  expect(kept).toBeLessThanOrEqual(TIER2);
}

const NOTHING: Pick<Placement, "deviceBytes" | "hostBytes" | "mappedBytes"> = {
  deviceBytes: [],
  hostBytes: 0,
  mappedBytes: 0,
};

const model = fc.nat(MODELS.length - 1);
const one = <T extends string>(name: T) => ({ do: fc.constant(name) });
const { settle, finish, cancel, crash, ask, unload, tick, drain } = stepsAbout(MODELS.length);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      ...one("arrive"),
      model,
      bound: fc.integer({ min: 1, max: 20_000 }),
      max: fc.integer({ min: 1, max: 4_096 }),
      keep: fc.option(fc.constantFrom(0, 500, Number.POSITIVE_INFINITY)),
    }),
  },
  { weight: 8, arbitrary: settle(3) },
  { weight: 5, arbitrary: finish },
  { weight: 2, arbitrary: cancel },
  { weight: 3, arbitrary: fc.record({ ...one("warm"), model }) },
  { weight: 1, arbitrary: fc.record({ ...one("lose"), model }) },
  { weight: 1, arbitrary: crash },
  { weight: 1, arbitrary: ask() },
  { weight: 1, arbitrary: unload },
  { weight: 3, arbitrary: tick(4_000) },
  { weight: 1, arbitrary: drain(20) },
);

describe("three tiers", () => {
  it.each(["discrete", "processor", "unified"] as const)(
    "hold no more than their budgets and lose no request, whatever happens (%s memory)",
    (kind) => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
          const machine = budgets(kind);
          const made = new World({ budgets: machine, plan });
          made.checkMemory = () => checkBooked(made, machine);
          let wish = 1;
          for (const s of steps) {
            made.at += 10;
            if (s.do === "arrive") {
              made.arrive(MODELS[s.model]!, s.bound, s.max, undefined, s.keep);
            } else if (s.do === "warm") {
              made.send({ type: "keepAsked", terms: MODELS[s.model]!, ask: wish++ });
            } else if (s.do === "lose") {
              made.lose(MODELS[s.model]!.id);
            } else take(made, MODELS, s);
          }
          made.settleAll();
          expect(made.open.size).toBe(0);
          expect(made.state.requests.size).toBe(0);
          expect(made.ended.size).toBe(made.nextRequest - 1);
          for (const left of made.state.models.values()) {
            expect(left).toMatchObject({ yieldsTo: null, askedAt: null, madeRoom: [] });
            expect(left.pages.isNext).toBe(false);
            expect(["out", "kept"]).toContain(left.pages.phase);
          }
        }),
        { numRuns: 350 },
      );
    },
    120_000,
  );
});
