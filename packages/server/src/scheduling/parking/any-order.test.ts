import fc from "fast-check";
import { expect, it } from "vitest";
import { hostMemory } from "../__fixtures__/host-memory.js";
import { RUNS, RUNS_TIMEOUT_MS } from "../__fixtures__/runs.js";
import { stepsAbout, take } from "../__fixtures__/steps.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";
import { parkedBytes } from "./parked-bytes.js";

const MiB = 1024 ** 2;
const BUDGET = 100 * MiB;
const MODELS = [
  terms("a", 50 * MiB),
  terms("b", 40 * MiB),
  terms("c", 30 * MiB, { slots: 1, idleUnloadMs: 3_000 }),
  terms("d", 70 * MiB),
];

function world(takesMemory: boolean): World {
  const made = new World(
    hostMemory(BUDGET),
    {},
    {
      enabled: true,
      maxBytes: 2 * MiB,
      capacityBytes: 20 * MiB,
      takesMemory,
      slotIdleMs: 10_000,
    },
  );
  made.checkMemory = () => {
    const { models, parking } = made.state;
    let booked = parkedBytes(made.state);
    for (const model of models.values()) booked += model.placement?.hostBytes ?? 0;
    expect(booked).toBeLessThanOrEqual(BUDGET);
    const { book } = parking;
    if (!book.list().some((parked) => parked.forRestart)) {
      expect(book.bytes).toBeLessThanOrEqual(Math.max(2 * MiB, book.maxBytes));
    }
    for (const id of parking.saving.keys()) expect(models.get(id)!.phase).toBe("unloading");
    for (const id of parking.restoring.keys()) expect(models.get(id)!.phase).toBe("loading");
  };
  return made;
}

const model = fc.nat(MODELS.length - 1);
const index = fc.nat(9);
const { finish, cancel, crash, unload, ask, tick, drain } = stepsAbout(MODELS.length);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("arrive" as const),
      model,
      bound: fc.integer({ min: 1, max: 20_000 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("settle" as const), index, chance: fc.nat(5) }),
  },
  { weight: 5, arbitrary: finish },
  { weight: 1, arbitrary: cancel },
  { weight: 1, arbitrary: crash },
  { weight: 3, arbitrary: unload },
  {
    weight: 1,
    arbitrary: ask(fc.option(fc.constantFrom(512, 8_192, 16_384), { nil: undefined })),
  },
  { weight: 2, arbitrary: tick(2_000) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("set" as const),
      chance: fc.nat(5),
      maxBytes: fc.option(fc.integer({ min: MiB / 4, max: 2 * MiB })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("forget" as const), model }) },
  { weight: 1, arbitrary: drain(200) },
);

it.each([{ takesMemory: true }, { takesMemory: false }])(
  "parking loses no request and no file, and stays within the memory, in any order of events, %o",
  ({ takesMemory }) => {
    let restores = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
        const made = world(takesMemory);
        for (const s of steps) {
          made.at += 10;
          if (s.do === "arrive") made.arrive(MODELS[s.model]!, s.bound, 100);
          else if (s.do === "settle") made.settle(s.index, s.chance > 0);
          else if (s.do === "set") {
            made.send({
              type: "parkingSet",
              enabled: s.chance > 0,
              ...(s.maxBytes === null ? {} : { maxBytes: s.maxBytes }),
            });
          } else if (s.do === "forget") {
            made.send({ type: "parkedDropped", models: [MODELS[s.model]!.id] });
          } else take(made, MODELS, s);
        }
        made.settleAll();
        restores += made.restores;
        expect(made.open.size).toBe(0);
        expect(made.state.requests.size).toBe(0);
        const { book, saving, restoring } = made.state.parking;
        expect([saving.size, restoring.size]).toEqual([0, 0]);
        const parked = book.list().flatMap(({ conversations }) => conversations);
        expect(new Set(parked.map(({ file }) => file.name))).toEqual(made.files);
      }),
      // These take longer each than those without files.
      { numRuns: Math.ceil(RUNS / 5), endOnFailure: true },
    );
    expect(restores).toBeGreaterThan(20);
  },
  RUNS_TIMEOUT_MS,
);
