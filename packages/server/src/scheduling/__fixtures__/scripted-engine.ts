import type { Engine, Loaded, LoadPlan } from "../../engines/index.js";
import type { GenerationEvent, GenerationRequest } from "../../formats/index.js";
import { createLog } from "../../observe/index.js";
import { type Schedulable, Scheduler } from "../index.js";

/** What an engine does at each of its calls; what is left out goes well. */
export interface EngineScript {
  load?: (plan: LoadPlan) => Promise<void>;
  count?: () => Promise<number>;
  generate?: () => AsyncIterable<GenerationEvent>;
}

/** An engine without a process. `plans` are its loads, `ended` those that were closed; `die` ends the last by itself. */
export function scriptedEngine(script: EngineScript = {}) {
  const plans: LoadPlan[] = [];
  let ended = 0;
  let die = () => {};
  const engine: Engine = {
    kind: "scripted",
    devices: async () => [],
    build: async () => "scripted",
    threads: async () => 1,
    batchTokens: () => 128,
    async load(_model, plan) {
      plans.push(plan);
      await script.load?.(plan);
      return loaded(
        plan,
        script,
        () => ended++,
        (end) => {
          die = end;
        },
      );
    },
  };
  return { engine, plans, ended: () => ended, die: () => die() };
}

function loaded(
  plan: LoadPlan,
  script: EngineScript,
  onEnd: () => void,
  onStart: (end: () => void) => void,
): Loaded {
  let end = () => {};
  const exited = new Promise<void>((resolve) => {
    end = resolve;
  });
  onStart(end);
  return {
    facts: {
      version: "scripted",
      slots: plan.slots,
      contextTokens: plan.contextTokens,
      load: { loadMode: "mmap", totalMs: 1 },
      template: { systemRole: true, tools: false, reasoning: false },
    },
    generate: () => script.generate?.() ?? nothing(),
    tokenize: async (texts) => texts.map(() => []),
    frame: async () => ({ before: [], after: [] }),
    detokenize: async () => "",
    count: async () => (await script.count?.()) ?? 10,
    exited: exited.then(() => ({
      kind: "closed",
      message: "It was closed.",
      code: 0,
      signal: null,
      log: [],
    })),
    async close() {
      onEnd();
      end();
    },
  };
}

async function* nothing(): AsyncGenerator<GenerationEvent> {}

/** A scheduler, and a model of one slot and 4096 tokens, up to 16384, for it. */
export function scheduling(
  engine: Engine,
  more: Partial<ConstructorParameters<typeof Scheduler>[0]> = {},
): { scheduler: Scheduler; model: Schedulable } {
  const log = createLog("silent");
  return {
    scheduler: new Scheduler({ maxQueuePerModel: 4, stallMs: 1_000, log, ...more }),
    model: {
      terms: {
        id: "m",
        slots: 1,
        contextTokens: 4_096,
        maxContextTokens: 16_384,
        idleUnloadMs: Number.POSITIVE_INFINITY,
      },
      // No part of this engine looks at the file.
      spec: { id: "m", weightsPath: "/m.gguf", gguf: {} as Schedulable["spec"]["gguf"] },
      files: ["/m.gguf"],
      plan: { gpuLayers: 0, cpuExpertLayers: 0 },
      engine,
    },
  };
}

/** A short request, fields on top. */
export function request(fields: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }],
    maxTokens: 16,
    sampling: {},
    stop: [],
    choices: 1,
    think: false,
    ...fields,
  };
}
