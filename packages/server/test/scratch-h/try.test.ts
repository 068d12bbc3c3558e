import { test } from "vitest";
import { mkdtempSync } from "node:fs";
import { createLlamaEngine } from "/work/main/packages/server/src/engines/llama/index.ts";
import { createLog } from "/work/main/packages/server/src/observe/index.ts";
test("try", async () => {
  const dir = mkdtempSync("/tmp/h/rt-");
  for (const file of ["smollm2-135m-instruct-q4_1.gguf","qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"]) {
  const engine = createLlamaEngine({ binary: async () => ({ path: "/tmp/dev/build/bin/llama-server", version: "11434" }), runtimeDir: dir, stallMs: 60000, loadTimeoutMs: 60000, log: createLog("debug") });
  const spec = { id: "m", weightsPath: "/tmp/dev/gguf/"+file, gguf: {} as any };
  const t0 = performance.now();
  const loaded = await engine.load(spec, { slots: 4, contextTokens: 8192, gpuLayers: "auto", cpuExpertLayers: 0 }, (p) => console.log(p, performance.now()-t0), new AbortController().signal);
  console.log("ready", performance.now()-t0, loaded.facts);
  const req = { messages: [{ role: "user" as const, parts: [{ type: "text" as const, text: "Say hello" }] }], maxTokens: 16, sampling: { seed: 3 }, stop: [], choices: 2, think: false, topLogprobs: 0 };
  console.log("count", await loaded.count(req, new AbortController().signal), await loaded.tokenize("<|im_end|> hi", new AbortController().signal));
  for await (const e of loaded.generate(req, 1, new AbortController().signal)) console.log(JSON.stringify(e));
  const t1 = performance.now();
  await loaded.close("drain"); console.log("closed", performance.now()-t1, await loaded.exited.then(e=>({...e, log: e.log.slice(-3)})));
  }
}, 60000);
