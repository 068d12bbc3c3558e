import { expect, it } from "vitest";
import { createReach } from "./reach.js";

it("an unreachable host is passed over until it is forgotten", () => {
  let now = 0;
  const reach = createReach(1_000, () => now);
  reach.unreachable("a", "it does not answer", false);
  expect(reach.passedOver("a")).toEqual({ reason: "it does not answer", silent: false });
  expect(reach.passedOver("b")).toBeNull();
  now = 1_000;
  expect(reach.passedOver("a")).toBeNull();
  reach.unreachable("a", "no answer in time", true);
  reach.slow("a");
  expect(reach.passedOver("a")).toBeNull();
  expect(reach.isSlow("a")).toBe(true);
});
