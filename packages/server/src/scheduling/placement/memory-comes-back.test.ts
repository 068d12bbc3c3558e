import { expect, it } from "vitest";
import { hostMemory, memoryTerms } from "../__fixtures__/host-memory.js";
import { request, scheduling, scriptedEngine } from "../__fixtures__/scripted-engine.js";

const wait = { keepAliveMs: null, signal: new AbortController().signal };

it("the next model is loaded when the memory of the one before has come back, and not before", async () => {
  const { engine, plans, ended } = scriptedEngine();
  const { promise: back, resolve: comeBack } = withResolvers();
  let told: (model: string) => void = () => {};
  const gone = new Promise<string>((resolve) => {
    told = resolve;
  });
  const { scheduler, model } = scheduling(engine, {
    memory: hostMemory(100_000),
    onGone: async (id) => {
      told(id);
      await back;
    },
  });
  const named = (id: string) => ({
    ...model,
    spec: { ...model.spec, id },
    terms: { ...model.terms, id, memory: memoryTerms(id, 60_000) },
  });
  (await scheduler.admit(named("first"), request(), wait)).release();
  const second = scheduler.admit(named("second"), request(), wait);
  expect(await gone).toBe("first");
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended()).toBe(1);
  expect(plans).toHaveLength(1);
  expect(scheduler.activity("first").phase).toBe("unloading");
  comeBack();
  (await second).release();
  expect(plans).toHaveLength(2);
  await scheduler.close();
});

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
