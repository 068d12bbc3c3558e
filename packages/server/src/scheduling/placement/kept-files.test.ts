import { expect, it } from "vitest";
import { SomnusError } from "../../http/errors.js";
import { hostMemory, memoryTerms } from "../__fixtures__/host-memory.js";
import { scheduling, scriptedEngine } from "../__fixtures__/scripted-engine.js";
import { scriptedKeeper } from "../__fixtures__/scripted-keeper.js";

const signal = new AbortController().signal;
const FILES = ["/m-00001-of-00002.gguf", "/m-00002-of-00002.gguf", "/mmproj.gguf"];

function modelOfSeveralFiles(script: Parameters<typeof scriptedKeeper>[0] = {}) {
  const { keeper, held } = scriptedKeeper(script);
  const memory = hostMemory(100_000);
  memory.budgets.tier2Bytes = 50_000;
  const { scheduler, model } = scheduling(scriptedEngine().engine, { keeper, memory });
  const terms = { ...model.terms, memory: memoryTerms("m", 40_000) };
  return { scheduler, held, model: { ...model, terms, files: FILES } };
}

it("keeps all files of a model, and gives all of them back", async () => {
  const { scheduler, model, held } = modelOfSeveralFiles();
  await scheduler.keepWeights(model, signal);
  expect(held).toEqual(FILES);
  expect(scheduler.lockedBytes()).toBe(180);
  await scheduler.demote("m", signal);
  expect(held).toEqual([]);
  await scheduler.close();
});

it("keeps none of them when one cannot be kept", async () => {
  const { scheduler, model, held } = modelOfSeveralFiles({
    keep: async (path) => {
      if (path === FILES[2]) throw new SomnusError("model_unavailable", "it is not there.");
    },
  });
  await expect(scheduler.keepWeights(model, signal)).rejects.toThrow("it is not there.");
  expect(held).toEqual([]);
  expect(scheduler.bookings()).toEqual([]);
  await scheduler.close();
});

it("gives the others back when one of them is lost", async () => {
  const { scheduler, model, held } = modelOfSeveralFiles();
  await scheduler.keepWeights(model, signal);
  scheduler.weightsLost(FILES[1]!, "it was removed.");
  expect(scheduler.activity("m")).toMatchObject({ kept: null, keepProblem: "it was removed." });
  await expect.poll(() => held).toEqual([]);
  await scheduler.close();
});

it("keeps none of them when one is lost while the next is brought in", async () => {
  const { scheduler, model, held } = modelOfSeveralFiles({
    keep: async (path) => {
      if (path === FILES[1]) scheduler.weightsLost(FILES[0]!, "it was removed.");
    },
  });
  await expect(scheduler.keepWeights(model, signal)).rejects.toThrow("it was removed.");
  expect(held).toEqual([]);
  await scheduler.close();
});

it("gives back what has been brought in when the model has to leave before the rest has", async () => {
  const { scheduler, model, held } = modelOfSeveralFiles({
    keep: async (path, abort) => {
      if (path !== FILES[2]) return;
      await new Promise((_, reject) => {
        abort.addEventListener("abort", () => reject(abort.reason), { once: true });
      });
    },
  });
  const kept = expect(scheduler.keepWeights(model, signal)).rejects.toMatchObject({
    code: "model_busy",
  });
  await expect.poll(() => held).toEqual(FILES.slice(0, 2));
  await scheduler.demote("m", signal);
  await kept;
  expect(held).toEqual([]);
  await scheduler.close();
});
