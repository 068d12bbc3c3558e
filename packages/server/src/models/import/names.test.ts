import { expect, test } from "vitest";
import { freeId, idOf, quantOfFile, stemOfFile } from "./names.js";

test.each([
  ["/m/qwen2.5-0.5b-instruct-q4_k_m.gguf", "Q4_K_M", "qwen2.5-0.5b-instruct"],
  ["/m/Orca-2.Q4_0.gguf", "Q4_0", "Orca-2"],
  ["/m/x-UD-Q4_K_XL-00001-of-00003.gguf", "UD-Q4_K_XL", "x"],
  ["/m/x_fp16.gguf", "F16", "x"],
  ["/IQ4_XS/model.gguf", "IQ4_XS", "model"],
  ["/m/plain.gguf", null, "plain"],
  ["/m/Q8_0.gguf", "Q8_0", "Q8_0"],
])("%s is quantized as %s and named %s", (path, quant, stem) => {
  expect([quantOfFile(path), stemOfFile(path)]).toEqual([quant, stem]);
});

test.each([
  ["Owner/Répo Name:Q4_K_M", "Owner/Repo-Name:Q4_K_M"],
  ["../../etc/passwd", "etc/passwd"],
  ["a//b", "a/b"],
  ["\u001b[31mred", "31mred"],
  ["模型", null],
  ["x".repeat(200), "x".repeat(128)],
])("%j as an id is %j", (name, id) => {
  expect(idOf(name)).toBe(id);
});

test("an id that is taken gets its tool's name, and then numbers", () => {
  const taken = new Set(["m:1b"]);
  const next = () => {
    const id = freeId("m:1b", "ollama", (one) => !taken.has(one));
    taken.add(id);
    return id;
  };
  expect([next(), next(), next()]).toEqual(["m:1b-ollama", "m:1b-ollama-2", "m:1b-ollama-3"]);
  expect(freeId("x".repeat(128), "jan", (id) => id.endsWith("-jan"))).toHaveLength(128);
});
