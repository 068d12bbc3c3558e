import fc, { type Arbitrary } from "fast-check";
import type { ModelTerms } from "../state/state.js";
import type { World } from "./world.js";

/** What can happen in random orders of events. `model` is the place of one among the test's; `index` counts round. */
export type Step =
  | {
      do: "settle";
      index: number;
      how: "well" | "ill" | "no memory";
      tokens: number;
    }
  | { do: "finish" | "cancel" | "hang"; index: number }
  | { do: "next"; model: number; index: number }
  | { do: "crash" | "unload" | "unask"; model: number }
  | { do: "ask"; model: number; context?: number | undefined }
  | { do: "tick"; ms: number }
  | { do: "drain"; rare: number };

/** How such steps about so many models are made, each kind with what a test has it vary. */
export function stepsAbout(models: number) {
  const model = fc.nat(models - 1);
  const index = fc.nat(9);
  const act = <const T extends string>(name: T) => fc.constant(name);
  return {
    /** `well`: how many times as often as each of the two failures. */
    settle: (well: number) =>
      fc.record({
        do: act("settle"),
        index,
        how: fc.constantFrom(...Array<"well">(well).fill("well"), "ill", "no memory"),
        tokens: fc.integer({ min: 1, max: 18_000 }),
      }),
    finish: fc.record({ do: act("finish"), index }),
    cancel: fc.record({ do: act("cancel"), index }),
    hang: fc.record({ do: act("hang"), index }),
    next: fc.record({ do: act("next"), model, index }),
    crash: fc.record({ do: act("crash"), model }),
    unload: fc.record({ do: act("unload"), model }),
    unask: fc.record({ do: act("unask"), model }),
    ask: (context: Arbitrary<number | undefined> = fc.constant(undefined)) =>
      fc.record({ do: act("ask"), model, context }),
    tick: (mostMs: number) => fc.record({ do: act("tick"), ms: fc.nat(mostMs) }),
    /** Once in so many steps, and one. */
    drain: (rare: number) => fc.record({ do: act("drain"), rare: fc.nat(rare) }),
  };
}

/** One of these, counted round; undefined when there is none. */
export function nth<T>(items: Iterable<T>, index: number): T | undefined {
  const all = [...items];
  return all.length ? all[index % all.length] : undefined;
}

/** Has a step happen. */
export function take(made: World, models: readonly ModelTerms[], s: Step): void {
  switch (s.do) {
    case "settle": {
      const failure = s.how === "ill" ? "engine_failed" : "insufficient_memory";
      made.settle(s.index, s.how === "well", s.tokens, failure);
      return;
    }
    case "finish": {
      const request = nth(made.running.keys(), s.index);
      if (request !== undefined) made.finish(request);
      return;
    }
    case "cancel": {
      const request = nth(made.open, s.index);
      if (request !== undefined) made.send({ type: "cancelled", request });
      return;
    }
    case "hang":
      made.hang(s.index);
      return;
    case "next": {
      const during = nth(made.running.keys(), s.index);
      if (during === undefined) return;
      made.send({ type: "nextTold", terms: models[s.model]!, during });
      return;
    }
    case "crash":
      made.send({ type: "engineExited", model: models[s.model]!.id });
      return;
    case "unload":
      made.send({ type: "unloadAsked", model: models[s.model]!.id });
      return;
    case "unask":
      made.send({ type: "loadUnasked", model: models[s.model]!.id });
      return;
    case "ask": {
      const context = s.context === undefined ? {} : { contextTokens: s.context };
      made.send({ type: "loadAsked", terms: models[s.model]!, ...context });
      return;
    }
    case "tick":
      made.at += s.ms;
      made.send({ type: "tick" });
      return;
    case "drain":
      if (s.rare === 0) made.send({ type: "drainAsked" });
  }
}
