import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { writeTinyMoe } from "../../../test/gguf/index.js";
import { realEngineBinary } from "../../../test/real-engine.js";
import { readGguf } from "../../gguf/index.js";
import { createLog } from "../../observe/index.js";
import { requestOf } from "./__fixtures__/request.js";
import { createLlamaEngine } from "./index.js";

const NEVER = new AbortController().signal;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "run-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it.each([1, 2])(
  "a mixture of experts answers with the experts of %i of its 2 layers in host memory",
  async (cpuExpertLayers) => {
    const weightsPath = join(folder, "moe.gguf");
    await writeTinyMoe(weightsPath);
    const engine = createLlamaEngine({
      binary: async () => ({ path: realEngineBinary(), version: "11434" }),
      threads: 1,
      waitPolicy: "passive",
      runtimeDir: folder,
      stallMs: 60_000,
      loadTimeoutMs: 120_000,
      log: createLog("silent"),
    });
    const loaded = await engine.load(
      { id: "moe", weightsPath, gguf: await readGguf(weightsPath) },
      { slots: 1, contextTokens: 512, gpuLayers: "auto", cpuExpertLayers },
      () => {},
      NEVER,
    );
    try {
      let text = "";
      const request = requestOf("Hello", { maxTokens: 8, sampling: { temperature: 0 } });
      for await (const event of loaded.generate(request, 0, NEVER)) {
        if (event.type === "text") text += event.text;
      }
      expect(text).not.toBe("");
    } finally {
      await loaded.close("now");
    }
  },
);
