import { expect, test } from "vitest";
import { modelIdProblem, RESERVED_MODEL_IDS } from "./model-id.js";

test.each(["a", "qwen2.5-coder:0.5b", "org/model:Q4_K_M", "9", "a/.b", "a/b..c", "A".repeat(128)])(
  "%s is an id",
  (id) => {
    expect(modelIdProblem(id)).toBeNull();
  },
);

test.each(["", "-a", ".a", "/a", "a b", "a*", "ä", "a\n", "a\u0000", "A".repeat(129), "__proto__"])(
  "%j is made of the wrong characters",
  (id) => {
    expect(modelIdProblem(id)).toMatch(/must start with a letter or digit/);
  },
);

test.each(["a/", "a//b", "a/.", "a/../b", "a/./b"])("%s has an empty or dot segment", (id) => {
  expect(modelIdProblem(id)).toMatch(/between its slashes/);
});

test.each([...RESERVED_MODEL_IDS])("%s is reserved", (id) => {
  expect(modelIdProblem(id)).toMatch(/is reserved/);
});
