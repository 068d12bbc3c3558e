import { expect, it } from "vitest";
import type { GenerationEvent } from "../../formats/index.js";
import { SomnusError } from "../../http/errors.js";
import { hostMemory, memoryTerms } from "../__fixtures__/host-memory.js";
import { request, scheduling, scriptedEngine } from "../__fixtures__/scripted-engine.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";
import { withLease } from "../index.js";

const full = () => new SomnusError("device_out_of_memory", "The engine ran out of memory.");

it("has idle models of at most its priority leave, and waits for that", () => {
  const world = new World(hostMemory(1_000_000));
  const models = [
    terms("idle", 10),
    terms("high", 10, { memory: memoryTerms("high", 10, "high") }),
    terms("pinned", 10),
    terms("busy", 10),
    terms("runs", 10),
  ];
  world.send({ type: "pinAsked", terms: models[2]!, pinned: true });
  const [idle, high, pinned, , runs] = models.map((model) => {
    const first = world.arrive(model, 100, 16);
    world.settle(0, true);
    return first;
  });
  for (const id of [idle!, high!, pinned!]) world.finish(id);
  world.send({ type: "ranOutOfMemory", model: "runs" });
  expect(world.pending.map(({ effect }) => effect)).toMatchObject([
    {
      type: "unload",
      model: "idle",
      evicted: { forModel: "runs", reason: "device_out_of_memory", toTier: "tier3_nvme_ssd" },
    },
  ]);
  world.finish(runs!, false);
  const again = world.arrive(models[4]!, 100, 16);
  expect(world.running.has(again)).toBe(false);
  world.settle(0, true);
  expect(world.running.has(again)).toBe(true);
});

it("loads the model anew only when the others have left, if its engine died of it", () => {
  const world = new World(hostMemory(1_000_000));
  const [idle, runs] = [terms("idle", 10), terms("runs", 10)].map((model) => {
    const first = world.arrive(model, 100, 16);
    world.settle(0, true);
    return first;
  });
  world.finish(idle!);
  world.send({ type: "ranOutOfMemory", model: "runs" });
  world.send({ type: "engineExited", model: "runs" });
  world.finish(runs!, false);
  world.arrive(terms("runs", 10), 100, 16);
  expect(world.pending.map(({ effect }) => effect.type)).toEqual(["unload", "unload"]);
  world.settle(1, true);
  expect(world.pending.map(({ effect }) => effect.type)).toEqual(["unload"]);
  world.settle(0, true);
  expect(world.pending.map(({ effect }) => effect.type)).toEqual(["load"]);
});

async function answerWith(failures: number) {
  let calls = 0;
  const { engine } = scriptedEngine({
    async *generate(): AsyncGenerator<GenerationEvent> {
      if (calls++ < failures) throw full();
      yield { type: "text", choice: 0, text: "well" };
    },
  });
  const { scheduler, model } = scheduling(engine);
  const { signal } = new AbortController();
  const options = { keepAliveMs: null, signal };
  const answer = withLease(
    () => scheduler.admit(model, request(), options),
    signal,
    async (lease) => {
      const texts: string[] = [];
      for await (const event of lease.generate(request(), signal)) {
        if (event.type === "text") texts.push(event.text);
      }
      return texts.join("");
    },
  );
  const told = await answer.catch((error: unknown) => error);
  const left = scheduler.activity("m");
  await scheduler.close();
  return { told, calls, leases: left.activeLeases };
}

it("tries the work once more", async () => {
  expect(await answerWith(1)).toEqual({ told: "well", calls: 2, leases: 0 });
});

it("tells the failure when that does not help", async () => {
  const { told, calls, leases } = await answerWith(9);
  expect(told).toMatchObject({ code: "device_out_of_memory", kind: { status: 507 } });
  expect([calls, leases]).toEqual([2, 0]);
});
