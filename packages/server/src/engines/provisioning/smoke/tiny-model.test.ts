import { expect, test } from "vitest";
import { tinyModel } from "./tiny-model.js";

test("the smoke test's model is small, the same every time, and a GGUF of version 3", () => {
  const model = tinyModel();
  expect(model.length).toBeLessThan(100_000);
  expect(model.equals(tinyModel())).toBe(true);
  expect(model.toString("latin1", 0, 4)).toBe("GGUF");
  expect(model.readUInt32LE(4)).toBe(3);
  expect(model.length % 32).toBe(0);
});
