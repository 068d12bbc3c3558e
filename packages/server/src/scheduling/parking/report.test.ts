import { expect, it } from "vitest";
import { hostMemory } from "../__fixtures__/host-memory.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";
import { type ParkingReport, reportOf } from "./report.js";

const MiB = 1024 ** 2;
const [A, B] = [terms("a", 50 * MiB), terms("b", 50 * MiB)];

const named = ({ models }: ParkingReport) => models.map(({ model }) => model);
const sizes = ({ models }: ParkingReport) => models.reduce((sum, { bytes }) => sum + bytes, 0);

it("lists what takes the bytes that are used, also while it is being restored", () => {
  const world = new World(
    hostMemory(200 * MiB),
    {},
    {
      enabled: true,
      maxBytes: 20 * MiB,
      capacityBytes: 20 * MiB,
      takesMemory: true,
      slotIdleMs: Number.POSITIVE_INFINITY,
    },
  );
  const report = () => reportOf(world.state, world.at);
  for (const model of [A, B]) {
    world.serve(model);
    world.send({ type: "unloadAsked", model: model.id });
    world.settle(0, true);
    world.settle(0, true);
    world.at += 1_000;
  }
  expect(named(report())).toEqual(["a", "b"]);
  const request = world.arrive(A, 100, 16);
  world.settle(0, true);
  expect(world.pending.map(({ effect }) => effect.type)).toEqual(["unpark"]);
  expect(named(report())).toEqual(["a", "b"]);
  expect(report().usedBytes).toBe(sizes(report()));
  world.settle(0, true);
  expect(world.running.has(request)).toBe(true);
  expect(named(report())).toEqual(["b"]);
  expect(report().usedBytes).toBe(sizes(report()));
});
