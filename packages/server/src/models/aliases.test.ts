import { expect, it } from "vitest";
import { createAliases } from "./aliases.js";

it("takes an exact alias before a glob, and a longer glob before a shorter one", () => {
  const alias = createAliases({ "gpt-*": "a", "gpt-4*": "b", "gpt-4o": "c", "*": "d" });
  expect(["gpt-3", "gpt-4.1", "gpt-4o", "claude"].map(alias)).toEqual(["a", "b", "c", "d"]);
  expect(createAliases({ "gpt-*": "a" })("gemini")).toBeNull();
});

it.each([
  ["a*b", ["ab", "a-b", "aab", "abab"], ["a", "b", "ba", "abc"]],
  ["a*a", ["aa", "aba"], ["a", "ab"]],
  ["*x*y*", ["xy", "1x2y3", "x\ny"], ["yx", "x", ""]],
  ["a.b*", ["a.b", "a.bc"], ["aXb"]],
  ["**", ["", "anything"], []],
])("lets * stand for any run of characters, and nothing else for another: %s", (glob, yes, no) => {
  const alias = createAliases({ [glob]: "model" });
  for (const name of yes) expect(alias(name), name).toBe("model");
  for (const name of no) expect(alias(name), name).toBeNull();
});

it("is quick for a name of any length", () => {
  const alias = createAliases({ "*a*a*a*a*b": "model" });
  expect(alias("a".repeat(1_000_000))).toBeNull();
});
