import { expect, it } from "vitest";
import { hostMemory, memoryTerms } from "../__fixtures__/host-memory.js";
import { request, scheduling, scriptedEngine } from "../__fixtures__/scripted-engine.js";
import type { Schedulable } from "./schedulable.js";

it.each(["while it starts", "when it has just started"])(
  "a load ahead is stopped %s, its engine has gone, and it can be loaded later",
  async (when) => {
    let begun = () => {};
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    let aborted = 0;
    const { engine: plain, ended } = scriptedEngine();
    const slow: typeof plain = {
      ...plain,
      async load(model, plan, phase, signal) {
        if (aborted > 0) return plain.load(model, plan, phase, signal);
        begun();
        await new Promise<void>((resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted++;
            if (when === "while it starts") reject(signal.reason);
            else resolve();
          });
        });
        return plain.load(model, plan, phase, new AbortController().signal);
      },
    };
    const { scheduler, model } = scheduling(plain, { memory: hostMemory(100_000) });
    const named = (id: string, engine = plain): Schedulable => ({
      ...model,
      engine,
      terms: { ...model.terms, id, memory: memoryTerms(id, 40_000) },
      spec: { ...model.spec, id },
    });
    const next = named("next", slow);
    const { signal } = new AbortController();
    const options = { keepAliveMs: null, signal };
    const first = await scheduler.admit(named("first"), request(), options);
    first.expectNext(next);
    await hasBegun;
    const third = await scheduler.admit(named("third"), request(), options);
    expect(aborted).toBe(1);
    expect(ended()).toBe(when === "while it starts" ? 0 : 1);
    expect(scheduler.activity("next")).toMatchObject({ phase: "unloaded", failure: null });
    first.release();
    third.release();
    const later = await scheduler.admit(next, request(), options);
    later.release();
    await scheduler.close();
  },
);
