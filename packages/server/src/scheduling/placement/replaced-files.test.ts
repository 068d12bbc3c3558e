import { expect, it } from "vitest";
import { hostMemory, memoryTerms } from "../__fixtures__/host-memory.js";
import { terms } from "../__fixtures__/terms.js";
import { World } from "../__fixtures__/world.js";
import { preview } from "./preview.js";

const ofFile = (weights: number, mode: "off" | "on" = "off") =>
  terms("a", weights, {
    memory: { ...memoryTerms("a", weights), moeOffload: mode, readFrom: { weights } },
  });

function booked(world: World): number {
  return world.state.models.get("a")!.placement?.hostBytes ?? 0;
}

it("books what the file weighs that has replaced the one before, from the next load on", () => {
  const world = new World(hostMemory(1_000_000));
  const [small, large] = [ofFile(1_000), ofFile(500_000)];
  world.serve(small);
  const second = world.arrive(large, 100, 16);
  world.finish(second);
  expect(booked(world)).toBe(1_000 + 8_192);
  expect(preview(world.state, large, null, world.at)?.parts.weights).toBe(500_000);
  world.send({ type: "unloadAsked", model: "a" });
  world.settle(0, true);
  world.arrive(large, 100, 16);
  expect(booked(world)).toBe(500_000 + 8_192);
});

it("refuses what has become too large, and loads it when the smaller file is back", () => {
  const world = new World(hostMemory(100_000));
  const [small, large] = [ofFile(1_000), ofFile(500_000)];
  expect(world.ended.get(world.arrive(large, 100, 16))).toBe("insufficient_memory");
  const next = world.arrive(small, 100, 16);
  world.settle(0, true);
  expect(world.running.has(next)).toBe(true);
});

it("keeps where somebody wants the experts to run", () => {
  const world = new World(hostMemory(1_000_000));
  world.send({ type: "offloadSet", terms: ofFile(1_000), mode: "on" });
  world.arrive(ofFile(2_000), 100, 16);
  expect(world.state.models.get("a")!.terms.memory?.moeOffload).toBe("on");
  expect(world.state.models.get("a")!.terms.memory?.artifactBytes).toBe(2_000);
});
