import { expect, it } from "vitest";
import { request, scheduling, scriptedEngine } from "../__fixtures__/scripted-engine.js";

const signal = new AbortController().signal;
const nobody = () => {};

it("demotes an idle model when its engine has gone, and one that is not loaded at once", async () => {
  const { engine, ended, plans } = scriptedEngine();
  const { scheduler, model } = scheduling(engine);
  await scheduler.demote("m", signal);
  await scheduler.preload(model, nobody, signal);
  await Promise.all([scheduler.demote("m", signal), scheduler.demote("m", signal)]);
  expect(ended()).toBe(1);
  expect(scheduler.activity("m")).toMatchObject({ phase: "unloaded", facts: null });
  await scheduler.preload(model, nobody, signal);
  expect(plans).toHaveLength(2);
  await scheduler.close();
});

it("loads again a model that is asked for while it leaves", async () => {
  const { engine, plans } = scriptedEngine();
  const { scheduler, model } = scheduling(engine);
  await scheduler.preload(model, nobody, signal);
  const gone = scheduler.demote("m", signal);
  const back = scheduler.preload(model, nobody, signal, 2_048);
  await Promise.all([gone, back]);
  expect(plans.map(({ contextTokens }) => contextTokens)).toEqual([4_096, 2_048]);
  expect(scheduler.activity("m").phase).toBe("ready");
  await scheduler.close();
});

it("does not demote a model in use, and says how long it has been idle", async () => {
  const { engine } = scriptedEngine();
  const { scheduler, model } = scheduling(engine);
  expect(scheduler.activity("m").idleMs).toBeNull();
  const lease = await scheduler.admit(model, request(), { keepAliveMs: null, signal });
  expect(scheduler.activity("m").idleMs).toBe(0);
  await expect(scheduler.demote("m", signal)).rejects.toMatchObject({ code: "model_busy" });
  lease.release();
  expect(scheduler.activity("m").idleMs).toBeGreaterThanOrEqual(0);
  await scheduler.demote("m", signal);
  await scheduler.close();
});

it("lets who waits for a move leave, and the others wait on", async () => {
  let finish = () => {};
  const loading = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { engine } = scriptedEngine({ load: () => loading });
  const { scheduler, model } = scheduling(engine);
  const leave = new AbortController();
  const left = scheduler.preload(model, nobody, leave.signal);
  const stays = scheduler.preload(model, nobody, signal);
  leave.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  // Another context is refused to who asks for it alone.
  await expect(scheduler.preload(model, nobody, signal, 1_024)).rejects.toMatchObject({
    code: "model_busy",
  });
  finish();
  await stays;
  await scheduler.close();
});
