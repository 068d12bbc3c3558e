import type { ModelTerms, SchedulerLimits } from "../state/state.js";
import { hostMemory } from "./host-memory.js";
import { World } from "./world.js";

/** One request: when it comes, what it says of its size, and how long it will really take. Times in ms. */
export interface Coming {
  at: number;
  promptBound: number;
  maxTokens: number;
  holdMs: number;
  /** Which of the models it is for; absent: the first. */
  model?: number;
}

/**
 * How far the waits that were told were from the real ones, as shares of these; waits below 10 ms left out. All
 * models fit into memory.
 */
export function errorsOfWaits(
  models: readonly ModelTerms[],
  line: readonly Coming[],
  limits: Partial<SchedulerLimits> = {},
): number[] {
  const world = new World(hostMemory(1e9), limits);
  world.state.maxQueuePerModel = 64;
  for (const model of models) {
    world.serve(model);
  }
  const holds = new Map<number, number>();
  const arrivedAt = new Map<number, number>();
  const ends = new Map<number, number>();
  const errors: number[] = [];
  const note = () => {
    for (const request of world.running.keys()) {
      if (ends.has(request)) continue;
      ends.set(request, world.at + holds.get(request)!);
      const real = world.at - arrivedAt.get(request)!;
      const told = world.estimates.get(request) ?? null;
      if (told !== null && Math.max(real, told) >= 10) {
        errors.push(Math.abs(told - real) / Math.max(10, real));
      }
    }
  };
  const endUntil = (at: number) => {
    for (;;) {
      const next = [...world.running.keys()].sort((a, b) => ends.get(a)! - ends.get(b)!)[0];
      const end = next === undefined ? Number.POSITIVE_INFINITY : ends.get(next)!;
      const due = world.timer ?? Number.POSITIVE_INFINITY;
      if (Math.min(end, due) > at || (next === undefined && !Number.isFinite(at))) break;
      world.at = Math.min(end, due);
      if (next !== undefined && end <= due) world.finish(next);
      else {
        world.timer = null;
        world.send({ type: "tick" });
      }
      note();
    }
    if (Number.isFinite(at)) world.at = at;
  };
  for (const { at, promptBound, maxTokens, holdMs, model = 0 } of line) {
    endUntil(at);
    holds.set(world.nextRequest, holdMs);
    arrivedAt.set(world.nextRequest, at);
    world.arrive(models[model]!, promptBound, maxTokens);
    note();
  }
  endUntil(Number.POSITIVE_INFINITY);
  return errors;
}
