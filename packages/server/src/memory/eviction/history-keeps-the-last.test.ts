import { expect, it } from "vitest";
import { type Eviction, EvictionHistory } from "./history.js";

const eviction = (at: number): Eviction => ({
  model: `m${at}`,
  forModel: "other",
  reason: "memory_budget",
  toTier: "tier3_nvme_ssd",
  at,
});

it("lists evictions, the newest first", () => {
  const history = new EvictionHistory();
  expect(history.list()).toEqual([]);
  history.add(eviction(1));
  history.add(eviction(2));
  expect(history.list()).toEqual([eviction(2), eviction(1)]);
});

it("keeps the last ones only", () => {
  const history = new EvictionHistory();
  for (let at = 0; at < 100; at++) history.add(eviction(at));
  const listed = history.list();
  expect(listed).toHaveLength(32);
  expect(listed[0]!.at).toBe(99);
  expect(listed[31]!.at).toBe(68);
});
