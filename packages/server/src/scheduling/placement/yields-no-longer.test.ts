import { expect, it } from "vitest";
import { hostMemory } from "../__fixtures__/host-memory.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";
import { PATIENCE_MS } from "../state/waiting.js";

it("lets in who waits behind a model that yields, once the wish that came before it is taken back", () => {
  const busy = terms("busy", 40_000);
  const yields = terms("yields", 30_000, { slots: 1 });
  const large = terms("large", 70_000);
  const urgent = terms("urgent", 53_000);
  const world = new World(hostMemory(100_000));
  const [onBusy, onYields] = [busy, yields].map((model) => {
    const running = world.arrive(model, 100, 16);
    world.settle(0, true);
    return running;
  });
  world.send({ type: "loadAsked", terms: large });
  world.at += 10;
  const longer = world.arrive(yields, 100, 16, 12_000);
  world.at += 10;
  const last = world.arrive(large, 100, 16);
  world.at += PATIENCE_MS;
  world.send({ type: "tick" });
  expect(world.state.models.get("yields")!.yieldsTo).toBe("large");
  // One whose turn is before all of them waits for the busy one, so that nothing else is planned.
  const first = world.arrive(urgent, 100, 16, undefined, null, { workload: "interactive" });
  world.at += PATIENCE_MS;
  world.send({ type: "tick" });
  world.finish(onYields!);
  expect(world.pending).toEqual([]);
  world.send({ type: "loadUnasked", model: "large" });
  // It is loaded anew with a larger pool.
  expect(world.pending.map(({ effect }) => effect)).toEqual([
    { type: "unload", model: "yields", evicted: null },
  ]);
  world.finish(onBusy!);
  world.settleAll();
  expect([longer, last, first].map((id) => world.ended.get(id))).toEqual(["done", "done", "done"]);
});
