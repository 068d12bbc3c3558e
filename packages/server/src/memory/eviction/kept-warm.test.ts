import { expect, it } from "vitest";
import { keptWarm } from "./destination.js";

const leaving = [
  { loss: 1, keptBytes: 6, keepWarm: true },
  { loss: 5, keptBytes: 6, keepWarm: true },
  { loss: 9, keptBytes: 1, keepWarm: false },
];

it("keeps those that are to be kept warm, the dearest first, while tier 2 has room", () => {
  expect([...keptWarm(leaving, 12, () => true)]).toEqual([1, 0]);
  expect([...keptWarm(leaving, 11, () => true)]).toEqual([1]);
  expect([...keptWarm(leaving, 5, () => true)]).toEqual([]);
});

it("keeps nobody that the host has no room for", () => {
  expect([...keptWarm(leaving, 12, (index) => index === 0)]).toEqual([0]);
});
