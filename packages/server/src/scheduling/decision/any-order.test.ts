import fc from "fast-check";
import { expect, it } from "vitest";
import { hostMemory, memoryTerms } from "../__fixtures__/host-memory.js";
import { RUNS, RUNS_TIMEOUT_MS } from "../__fixtures__/runs.js";
import { nth, stepsAbout, take } from "../__fixtures__/steps.js";
import { terms } from "../__fixtures__/terms.js";
import { holds, World } from "../__fixtures__/world.js";

const MODELS = [
  terms("chat", 50_000, { heavy: true }),
  terms("titles", 20_000, { heavy: true, slots: 1 }),
  terms("coder", 40_000, { heavy: true, idleUnloadMs: 3_000 }),
  terms("embeddings", 10_000, { memory: memoryTerms("embeddings", 10_000, "low") }),
  terms("mixture", 30_000, { memory: memoryTerms("mixture", 30_000, "normal", 25_000) }),
  terms("voice", 45_000, { memory: memoryTerms("voice", 45_000, "high") }),
  terms("too-large", 200_000),
];

const model = fc.nat(MODELS.length - 1);
const index = fc.nat(9);
const { settle, finish, cancel, hang, crash, ask, unask, unload, drain } = stepsAbout(
  MODELS.length,
);
const perhaps = <const T>(...values: [T, ...T[]]) =>
  fc.option(fc.constantFrom(...values), { nil: undefined });

const arrive = fc.record({
  do: fc.constant("arrive" as const),
  model,
  bound: fc.integer({ min: 1, max: 20_000 }),
  max: fc.integer({ min: 1, max: 4_096 }),
  keep: fc.option(fc.constantFrom(0, 500, Number.POSITIVE_INFINITY)),
  workload: perhaps("interactive", "batch", "background"),
  timeout: perhaps(50, 5_000),
  mayEvict: perhaps(false),
});

const step = fc.oneof(
  { weight: 12, arbitrary: arrive },
  { weight: 12, arbitrary: settle(4) },
  { weight: 10, arbitrary: finish },
  { weight: 3, arbitrary: cancel },
  { weight: 2, arbitrary: crash },
  { weight: 1, arbitrary: hang },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("run out" as const), index, dies: fc.boolean() }),
  },
  { weight: 2, arbitrary: ask(perhaps(4_000)) },
  { weight: 1, arbitrary: unask },
  { weight: 2, arbitrary: unload },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("pin" as const), model, pinned: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("offload" as const),
      // Most often of the one that has experts.
      model: fc.oneof(fc.constant(MODELS.findIndex(({ id }) => id === "mixture")), model),
      mode: fc.constantFrom("off", "auto", "on"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("machine" as const),
      bytes: fc.constantFrom(90_000, 100_000, 140_000),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("time" as const), ms: fc.nat(4_000) }) },
  { weight: 1, arbitrary: drain(200) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const limits = fc.record({
  maxRunning: fc.option(fc.constantFrom(1, 2, 4)),
  maxQueue: fc.option(fc.constantFrom(1, 3, 12)),
  queueTimeoutMs: fc.option(fc.constantFrom(500, 20_000)),
  lane: fc.boolean(),
});

/** Lets the time pass, and the timer ring when it is due. */
function pass(made: World, ms: number): void {
  made.at += ms;
  while (made.timer !== null && made.timer <= made.at) {
    made.timer = null;
    made.send({ type: "tick" });
  }
  made.endHung();
}

function run(made: World, s: Step): void {
  pass(made, 10);
  switch (s.do) {
    case "arrive": {
      const { workload, timeout, mayEvict } = s;
      made.arrive(MODELS[s.model]!, s.bound, s.max, undefined, s.keep, {
        ...(workload === undefined ? {} : { workload }),
        ...(timeout === undefined ? {} : { queueTimeoutMs: timeout }),
        ...(mayEvict === undefined ? {} : { mayEvict }),
      });
      return;
    }
    case "run out": {
      const entry = nth(made.running, s.index);
      if (entry === undefined) return;
      const [request, id] = entry;
      made.send({ type: "ranOutOfMemory", model: id });
      if (s.dies) made.send({ type: "engineExited", model: id });
      made.finish(request, false);
      made.arrive(MODELS.find((one) => one.id === id)!, 100, 16);
      return;
    }
    case "pin":
      made.send({ type: "pinAsked", terms: MODELS[s.model]!, pinned: s.pinned });
      return;
    case "offload":
      made.offload(MODELS[s.model]!, s.mode);
      return;
    case "machine":
      made.send({ type: "memoryMeasured", memory: hostMemory(s.bytes) });
      return;
    case "time":
      pass(made, s.ms);
      return;
    default:
      take(made, MODELS, s);
  }
}

it(
  "keeps its promises for any order of events",
  () => {
    const steps = fc.array(step, { minLength: 200, maxLength: 200 });
    fc.assert(
      fc.property(limits, steps, (limited, events) => {
        const made = new World(hostMemory(100_000), limited);
        made.checkMemory = () => {
          let booked = 0;
          for (const one of made.state.models.values()) {
            holds(
              (one.placement !== null) === (one.phase !== "unloaded"),
              "what is there is booked",
            );
            booked += one.placement?.hostBytes ?? 0;
          }
          // A budget may shrink below what is loaded; nothing is loaded beyond it then.
          holds(booked <= 140_000, "no more is booked than there is");
        };
        for (const event of events) run(made, event);
        made.settleAll();
        expect(made.open.size).toBe(0);
        expect(made.ended.size).toBe(made.nextRequest - 1);
        const { requests, queued, running, inLane, held, models } = made.state;
        expect([requests.size, queued, running, inLane.size, held.size]).toEqual([0, 0, 0, 0, 0]);
        for (const left of models.values()) {
          expect(left).toMatchObject({
            yieldsTo: null,
            askedAt: null,
            barredBy: null,
            waiting: { ordinary: 0, background: 0 },
          });
          expect([...left.madeRoom, ...left.clearing]).toEqual([]);
        }
      }),
      // With fewer events allowed, a failure can be shrunk; that many take minutes.
      { numRuns: RUNS, endOnFailure: true },
    );
  },
  RUNS_TIMEOUT_MS,
);
