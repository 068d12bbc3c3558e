import { expect, it } from "vitest";
import { pauseMs } from "./link.js";

it("the pause before a restart doubles up to half a minute", () => {
  expect([1, 2, 3, 9, 10, 1_000].map(pauseMs)).toEqual([100, 200, 400, 25_600, 30_000, 30_000]);
});
