import { expect, test } from "vitest";
import { editDistance, nearest } from "./index.js";

test.each([
  ["port", "port", 0],
  ["prot", "port", 1],
  ["Port", "port", 0],
  ["prt", "port", 1],
  ["kitten", "sitting", 3],
  ["", "abc", 3],
])("from %s to %s it is %i", (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance);
  expect(editDistance(b, a)).toBe(distance);
});

test("the nearest word is found, and nothing when none is near", () => {
  const words = ["port", "host", "max_queue_per_model", "drain_secs"];
  expect(nearest("prot", words)).toBe("port");
  expect(nearest("max_que_per_models", words)).toBe("max_queue_per_model");
  expect(nearest("colour", words)).toBeNull();
  expect(nearest("x", words)).toBeNull();
});

test("a huge word is like nothing, not even itself", () => {
  const huge = "a".repeat(1_000_000);
  expect(nearest(huge, [huge, "a"]) === null).toBe(true);
  expect(nearest("a", [huge])).toBeNull();
});
