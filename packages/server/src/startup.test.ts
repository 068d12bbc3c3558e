import { expect, it } from "vitest";
import { SomnusError } from "./http/errors.js";
import type { Pool, PoolModel } from "./models/index.js";
import { createLog, type Logger } from "./observe/index.js";
import { Startup, type StartupParts } from "./startup.js";

/** A startup whose steps go well where the test says nothing else. */
function startup(parts: {
  models?: Partial<PoolModel>[];
  missing?: boolean;
  broken?: { file: string; reason: string }[];
  log?: Partial<Logger>;
  provide?: () => Promise<unknown>;
  fetch?: () => Promise<unknown>;
  keepWeights?: (model: unknown) => Promise<void>;
}): Startup {
  const file = { file: "m.gguf" };
  const pool = {
    open: async () => {},
    refresh: async () => {},
    broken: async () => parts.broken ?? [],
    list: () => parts.models ?? [],
    missing: async () =>
      parts.missing ? [{ model: { id: "m", name: "M" }, variant: { files: [file] } }] : [],
  } as unknown as Pool;
  return new Startup({
    pool,
    modelsDir: "/models",
    artifacts: { fetch: parts.fetch ?? (async () => {}) },
    engine: { bring: parts.provide ?? (async () => ({ version: "1" })), current: null },
    scheduler: { preload: async () => {}, keepWeights: parts.keepWeights ?? (async () => {}) },
    schedulable: ({ id }: PoolModel) => id,
    measureMemory: async () => {},
    log: parts.log ?? createLog("silent"),
    onProgress: () => {},
  } as unknown as StartupParts);
}

it("tells clients which step failed and why, without this machine's folders", async () => {
  const failing = startup({
    provide: () =>
      Promise.reject(
        new SomnusError(
          "model_unavailable",
          "The build failed; see /home/jürgen/.cache/somnus/build.log and https://example.org/a/b.",
        ),
      ),
  });
  await failing.run();
  expect(failing.staging()).toMatchObject({
    failed: true,
    phase: "bringing the llama.cpp engine",
    reason: "The build failed; see build.log and https://example.org/a/b.",
    hint: expect.any(String),
  });
  // The terminal of this machine is told the whole.
  expect(failing.current()!.reason).toContain("/home/jürgen/.cache/somnus/build.log");
  await expect(failing.engine()).rejects.toThrow("The build failed");
});

it.each([
  [[], false],
  [[{ enabled: true, problem: "it does not exist" }], false],
  [[{ enabled: false, problem: null }], false],
  [[{ enabled: true, problem: null }], true],
])(
  "goes on without a model that cannot be fetched when another can serve: %o",
  async (models, goesOn) => {
    const server = startup({
      models,
      missing: true,
      fetch: () => Promise.reject(new SomnusError("model_unavailable", "No source has it.")),
    });
    await server.run();
    expect(server.current()?.failed ?? false).toBe(!goesOn);
  },
);

it("warns once of each model of the library that cannot be used", async () => {
  const warnings: unknown[] = [];
  const server = startup({
    broken: [{ file: "tiny.json", reason: "it is no JSON" }],
    log: {
      info: () => {},
      warn: (facts: unknown) => {
        warnings.push(facts);
      },
    },
  });
  await server.run();
  expect(warnings).toEqual([{ manifest: "tiny.json", reason: "it is no JSON" }]);
  expect(server.current()).toBeNull();
});

it("ends quietly when it is told to stop", async () => {
  const stopping: Startup = startup({
    provide: () => {
      stopping.stop(new Error("enough"));
      return Promise.reject(new Error("stopped"));
    },
  });
  await stopping.run();
  expect(stopping.staging()).toMatchObject({
    failed: false,
    phase: "looking for the llama.cpp engine",
  });
});

it("brings weights into memory before it is ready, and is ready also without those that cannot be", async () => {
  const kept: unknown[] = [];
  const errors: unknown[] = [];
  let finish = () => {};
  const bringing = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const model = { enabled: true, problem: null } as const;
  const server = startup({
    models: [
      { ...model, id: "broken", initialTier: "tier2_pinned_ram" },
      { ...model, id: "cold", initialTier: "tier3_nvme_ssd" },
      { ...model, id: "warm", initialTier: "tier2_pinned_ram" },
    ],
    log: { info: () => {}, error: (fields: unknown) => errors.push(fields) },
    keepWeights: async (id) => {
      kept.push(id);
      if (id === "broken") throw new SomnusError("insufficient_memory", "No room.");
      await bringing;
    },
  });
  const running = server.run();
  await expect.poll(() => kept).toEqual(["broken", "warm"]);
  expect(server.staging()).toMatchObject({ phase: "bringing warm into memory", failed: false });
  finish();
  await running;
  expect(server.staging()).toBeNull();
  expect(errors).toMatchObject([{ model: "broken" }]);
});
