import { expect, it } from "vitest";
import { choiceRank, normalizeQuant, quantMatch, quantOfPath } from "./quantization.js";

it.each([
  ["Qwen3-8B-Q4_K_M.gguf", "Q4_K_M"],
  ["model.Q8_0.gguf", "Q8_0"],
  ["qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", "Q4_K_M"],
  ["Model-IQ2_XXS.gguf", "IQ2_XXS"],
  ["Model-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"],
  ["gpt-oss-20b-mxfp4.gguf", "MXFP4"],
  ["gpt-oss-20b-MXFP4_MOE.gguf", "MXFP4_MOE"],
  ["ggml-model-f16.gguf", "F16"],
  ["model-fp32.gguf", "F32"],
  ["Model-BF16.gguf", "BF16"],
  ["model-TQ1_0.gguf", "TQ1_0"],
  ["model-Q4_0_4_4.gguf", "Q4_0_4_4"],
  ["model-Q6_K.gguf", "Q6_K"],
  ["Q4_K_M/model-00001-of-00002", "Q4_K_M"],
  ["UD-IQ1_M/Model-00001-of-00009.gguf", "UD-IQ1_M"],
  ["BF16/model-Q4_K_S.gguf", "Q4_K_S"],
  ["f16-trained-Q5_1.gguf", "Q5_1"],
  ["model.gguf", null],
  ["wolf16.gguf", null],
  ["seq4_0ther.gguf", null],
])("finds in %s the quantization %s", (path, quant) => {
  expect(quantOfPath(path)).toBe(quant);
});

it("tells what a person means whatever the case, exactly before in another spelling", () => {
  expect(quantMatch("q4_k_m", "Q4_K_M")).toBe("exact");
  expect(quantMatch("fp16", "F16")).toBe("exact");
  expect(quantMatch("Q4_K_XL", "UD-Q4_K_XL")).toBe("same");
  expect(quantMatch("mxfp4", "MXFP4_MOE")).toBe("same");
  expect(quantMatch("Q4_K_M", "Q4_K_S")).toBeNull();
  expect(normalizeQuant("bf16")).toBe("BF16");
});

it("prefers the usual one, then those near it, and those that it does not know last", () => {
  const order = ["Q4_K_M", "Q4_K_S", "Q5_K_M", "Q8_0", "Q3_K_M", "F16", "IQ1_S"];
  const ranked = [...order].reverse().sort((a, b) => choiceRank(a) - choiceRank(b));
  expect(ranked).toEqual(order);
  expect(choiceRank(null)).toBe(choiceRank("IQ1_S"));
});
