import { expect, it } from "vitest";
import { engineEnvironment } from "./environment.js";

it("keeps what a program needs and withholds secrets and flags in disguise", () => {
  const own = {
    PATH: "/bin",
    CUDA_VISIBLE_DEVICES: "1",
    LLAMA_ARG_CTX_SIZE: "12",
    LLAMA_API_KEY: "x",
    HF_TOKEN: "secret",
    SOMNUS_SERVER_PORT: "1",
    UNSET: undefined,
  };
  expect(engineEnvironment(own, { OMP_WAIT_POLICY: "passive" })).toEqual({
    PATH: "/bin",
    CUDA_VISIBLE_DEVICES: "1",
    GGML_NO_BACKTRACE: "1",
    OMP_WAIT_POLICY: "passive",
  });
});
