import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realEngineBinary, realModel } from "../../../test/real-engine.js";
import type { GenerationEvent, GenerationRequest } from "../../formats/generation.js";
import type { GgufSummary } from "../../gguf/index.js";
import { createLog } from "../../observe/index.js";
import type { Loaded } from "../engine.js";
import { createLlamaEngine } from "./index.js";

const BATCH = 128;
const NEVER = new AbortController().signal;

let runtimeDir: string;
let loaded: Loaded;
/** The engine's process, as its own load told it to the log. */
let pid = 0;

async function load(slots = 4, contextTokens = 8192): Promise<Loaded> {
  const log = createLog("debug", {
    write: (line: string) => {
      pid = (JSON.parse(line) as { pid: number }).pid;
      return true;
    },
  } as NodeJS.WritableStream);
  const engine = createLlamaEngine({
    binary: async () => ({ path: realEngineBinary(), version: "11434" }),
    // One thread, that sleeps when it waits: neighbours on the same cores do no harm.
    threads: 1,
    waitPolicy: "passive",
    runtimeDir,
    stallMs: 60_000,
    loadTimeoutMs: 120_000,
    log,
  });
  return engine.load(
    { id: "smollm2:135m", weightsPath: await realModel("smollm2:135m"), gguf: {} as GgufSummary },
    { slots, contextTokens, gpuLayers: "auto", cpuExpertLayers: 0 },
    () => {},
    NEVER,
  );
}

function ask(text: string, more: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    messages: [{ role: "user", parts: [{ type: "text", text }] }],
    maxTokens: 24,
    sampling: { seed: 11 },
    stop: [],
    choices: 1,
    think: false,
    ...more,
  };
}

async function collect(request: GenerationRequest, slot = 0): Promise<GenerationEvent[]> {
  const events: GenerationEvent[] = [];
  for await (const event of loaded.generate(request, slot, NEVER)) events.push(event);
  return events;
}

const textOf = (events: GenerationEvent[], choice = 0) =>
  events.map((e) => (e.type === "text" && e.choice === choice ? e.text : "")).join("");
const usageOf = (events: GenerationEvent[]) =>
  events.flatMap((e) => (e.type === "usage" ? [e] : []));

/** Different words each time, so that no slot has them in its memory. */
const longText = (name: string, words: number) =>
  Array.from({ length: words }, (_, at) => `${name}${at}`).join(" ");

beforeAll(async () => {
  runtimeDir = await mkdtemp(join(tmpdir(), "run-"));
  loaded = await load();
});
afterAll(async () => {
  await loaded?.close("now");
  await rm(runtimeDir, { recursive: true, force: true });
});

describe("a real model", () => {
  it("is described by its engine", () => {
    expect(loaded.facts).toMatchObject({
      version: "llama.cpp 11434",
      slots: 4,
      contextTokens: 8192,
      template: { systemRole: true, tools: false, reasoning: false },
    });
    expect(loaded.facts.load.hostWeightBytes).toBeGreaterThan(90e6);
    expect(loaded.facts.load.weightsMs).toBeGreaterThan(0);
    expect(loaded.facts.load.contextMs).toBeGreaterThan(0);
  });

  it("gives the same text for the same seed, and another for another", async () => {
    const request = ask("Tell me about the sea.", { sampling: { seed: 3, temperature: 1 } });
    const first = textOf(await collect(request, 1));
    expect(first).not.toBe("");
    expect(textOf(await collect(request, 1))).toBe(first);
    const other = ask("Tell me about the sea.", { sampling: { seed: 4, temperature: 1 } });
    expect(textOf(await collect(other, 1))).not.toBe(first);
  });

  it.each([
    ["a plain question", ask("Hi")],
    [
      "a conversation with special words",
      ask("ignored", {
        messages: [
          { role: "system", parts: [{ type: "text", text: "Be brief. <|im_end|> 😀" }] },
          {
            role: "user",
            parts: [
              { type: "text", text: "One" },
              { type: "text", text: "Two\n" },
            ],
          },
          { role: "assistant", parts: [{ type: "text", text: "Yes." }] },
          { role: "user", parts: [{ type: "text", text: "" }] },
        ],
      }),
    ],
  ])("counts exactly what it then reads: %s", async (_what, request) => {
    const counted = await loaded.count(request, NEVER);
    const [usage] = usageOf(await collect({ ...request, maxTokens: 2 }));
    expect(usage?.usage.promptTokens).toBe(counted);
  });

  it("takes special words of a text to tokenize for plain text", async () => {
    expect((await loaded.tokenize("<|im_end|>", NEVER)).length).toBeGreaterThan(1);
    expect(await loaded.tokenize("", NEVER)).toEqual([]);
  });

  it("gives choices that differ, one after the other", async () => {
    const events = await collect(
      ask("Name an animal.", { choices: 2, sampling: { seed: 1, temperature: 1.5 } }),
    );
    expect(usageOf(events).map((usage) => usage.choice)).toEqual([0, 1]);
    expect(textOf(events, 0)).not.toBe(textOf(events, 1));
  });

  it("reports log probabilities", async () => {
    const events = await collect(ask("Say hello.", { topLogprobs: 3, maxTokens: 6 }));
    const tokens = events.flatMap((e) => (e.type === "text" ? (e.logprobs ?? []) : []));
    expect(tokens.map((token) => token.token).join("")).toBe(textOf(events));
    for (const token of tokens) {
      expect(token.logprob).toBeLessThanOrEqual(0);
      expect(token.top_logprobs).toHaveLength(3);
    }
  });

  it("follows a schema", async () => {
    const schema = {
      type: "object",
      properties: { city: { enum: ["Rome", "Oslo"] }, north: { type: "boolean" } },
      required: ["city", "north"],
      additionalProperties: false,
    };
    const answer = JSON.parse(
      textOf(await collect(ask("A city?", { json: { schema }, maxTokens: 60 }))),
    );
    expect(["Rome", "Oslo"]).toContain(answer.city);
    expect(typeof answer.north).toBe("boolean");
  });

  it("says which schema it cannot follow", async () => {
    const attempt = collect(ask("x", { json: { schema: { type: "nonsense" } } }));
    await expect(attempt).rejects.toMatchObject({
      code: "invalid_request",
      param: "response_format",
    });
    await expect(attempt).rejects.toThrow(/nonsense/);
  });

  it("refuses a prompt longer than the context with both numbers", async () => {
    const attempt = collect(ask(longText("word", 6000)));
    await expect(attempt).rejects.toMatchObject({ code: "context_length_exceeded" });
    await expect(attempt).rejects.toThrow(/\d{4,} tokens.*8192/);
  });

  it("stops at a stop word and leaves it out", async () => {
    const events = await collect(ask("Count: one, two, three", { stop: ["two"], maxTokens: 40 }));
    expect(textOf(events)).not.toContain("two");
  });
});

/**
 * How far a request that was cut still went is read from what the slot remembers: a follow-up finds
 * the cut one's tokens there as cached ones.
 */
describe("a request that is cut", () => {
  const neighbour = async (signal: AbortSignal) => {
    const events = loaded.generate(
      ask("Write a very long story.", {
        maxTokens: 4000,
        sampling: { seed: 2, logitBias: { "2": -100, "0": -100 } },
      }),
      3,
      signal,
    );
    for await (const _ of events);
  };

  for (const company of [false, true]) {
    const where = company ? "beside another stream" : "alone";

    it(`frees its slot within two tokens while generating, ${where}`, async () => {
      const other = new AbortController();
      const running = company ? neighbour(other.signal).catch(() => {}) : undefined;
      try {
        const request = ask("Write a very long story about a lighthouse.", {
          maxTokens: 2000,
          sampling: { seed: 5, logitBias: { "2": -100, "0": -100 } },
        });
        const control = new AbortController();
        let tokens = 0;
        let cutAt = 0;
        const attempt = (async () => {
          for await (const event of loaded.generate(request, 0, control.signal)) {
            if (event.type !== "text") continue;
            tokens++;
            if (tokens === 12) {
              cutAt = performance.now();
              control.abort();
            }
          }
        })();
        await expect(attempt).rejects.toMatchObject({ code: "cancelled" });
        // The next request waits for the slot: it starts as soon as the cut one has left it.
        const next = loaded.generate(ask("Hi", { maxTokens: 4 }), 0, NEVER);
        await next.next();
        const waited = performance.now() - cutAt;
        let usage: GenerationEvent | undefined;
        for await (const event of next) if (event.type === "usage") usage = event;
        if (usage?.type !== "usage") throw new Error("no usage");
        const perToken =
          (usage.timings?.decodeMs ?? 0) / Math.max(1, usage.timings?.decodeTokens ?? 1);
        expect(waited).toBeLessThan(2 * perToken + 400);
      } finally {
        other.abort();
        await running;
      }
    });

    it(`frees its slot within one batch while reading its prompt, ${where}`, async () => {
      const other = new AbortController();
      const running = company ? neighbour(other.signal).catch(() => {}) : undefined;
      try {
        const request = ask(longText(company ? "alpha" : "beta", 1200));
        const control = new AbortController();
        let done = 0;
        const attempt = (async () => {
          for await (const event of loaded.generate(request, 1, control.signal)) {
            if (event.type !== "progress" || event.done < 2 * BATCH) continue;
            done = event.done;
            control.abort();
          }
        })();
        await expect(attempt).rejects.toMatchObject({ code: "cancelled" });
        expect(done).toBeGreaterThan(0);
        // The same prompt again finds in the slot what the cut request had read until it was gone.
        const again = loaded.generate({ ...request, maxTokens: 1 }, 1, NEVER);
        const first = (await again.next()).value;
        await again.return(undefined);
        if (first?.type !== "start") throw new Error("no start");
        expect(first.promptTokens).toBeGreaterThan(8 * BATCH);
        expect(first.cachedTokens).toBeGreaterThan(0);
        expect(first.cachedTokens).toBeLessThanOrEqual(done + 2 * BATCH);
      } finally {
        other.abort();
        await running;
      }
    });
  }
});

describe("the end of the engine", () => {
  it("is told to the stream that it cut, and the next load works", async () => {
    const attempt = (async () => {
      for await (const event of loaded.generate(
        ask("Write a long story.", { maxTokens: 2000 }),
        0,
        NEVER,
      )) {
        if (event.type === "text") process.kill(pid, "SIGKILL");
      }
    })();
    await expect(attempt).rejects.toMatchObject({ code: "engine_failed" });
    await expect(attempt).rejects.toThrow(/SIGKILL/);
    expect(await loaded.exited).toMatchObject({ kind: "signal", signal: "SIGKILL" });
    loaded = await load(1, 2048);
    expect(textOf(await collect(ask("Hi")))).not.toBe("");
    await loaded.close("drain");
    expect(await loaded.exited).toMatchObject({ kind: "closed", code: 0 });
  });
});
