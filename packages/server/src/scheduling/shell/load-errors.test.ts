import { expect, it } from "vitest";
import { type ExitKind, LoadError } from "../../engines/index.js";
import { SomnusError } from "../../http/errors.js";
import { request, scheduling, scriptedEngine } from "../__fixtures__/scripted-engine.js";

const wait = { keepAliveMs: null, signal: new AbortController().signal };

async function refusalOf(cause: unknown) {
  const { engine } = scriptedEngine({ load: () => Promise.reject(cause) });
  const { scheduler, model } = scheduling(engine);
  return scheduler.admit(model, request(), wait).then(
    () => null,
    (error: unknown) => error,
  );
}

it("tells an engine's own refusal of a plan as it is", async () => {
  const refusal = new SomnusError("model_unavailable", "No layers are told.");
  expect(await refusalOf(refusal)).toMatchObject({
    code: "model_unavailable",
    message: "m could not be loaded: No layers are told.",
  });
});

it.each<[ExitKind, string]>([
  ["out_of_memory", "insufficient_memory"],
  ["bad_file", "model_unavailable"],
  ["missing_library", "model_unavailable"],
  ["timed_out", "engine_timeout"],
  ["signal", "engine_failed"],
])("tells why an engine ended while it loaded: %s", async (kind, code) => {
  const exit = { kind, message: "It ended.", code: 1, signal: null, log: [] };
  expect(await refusalOf(new LoadError(exit))).toMatchObject({
    code,
    message: "m could not be loaded: It ended.",
  });
});

it("tells whoever loads ahead the same, and stops waiting when told to", async () => {
  const refusal = new SomnusError("model_unavailable", "No layers are told.");
  const { engine, plans } = scriptedEngine({ load: () => Promise.reject(refusal) });
  const { scheduler, model } = scheduling(engine);
  await expect(scheduler.preload(model, () => {}, wait.signal)).rejects.toBe(refusal);
  const reason = new Error("enough");
  await expect(scheduler.preload(model, () => {}, AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(plans).toHaveLength(1);
});
