import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realEngineBinary, realModel } from "../../../test/real-engine.js";
import type { GenerationEvent, GenerationRequest } from "../../formats/index.js";
import type { GgufSummary } from "../../gguf/index.js";
import { createLog } from "../../observe/index.js";
import type { Loaded } from "../engine.js";
import { requestOf } from "./__fixtures__/request.js";
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
  return requestOf(text, { maxTokens: 24, sampling: { seed: 11 }, ...more });
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
    const [special, none] = await loaded.tokenize(["<|im_end|>", ""], NEVER);
    expect(special!.length).toBeGreaterThan(1);
    expect(none).toEqual([]);
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

  it("goes on with a begun answer without saying it again", async () => {
    const begun: GenerationRequest = ask("Count from one to nine.", { maxTokens: 8 });
    begun.messages.push({ role: "assistant", parts: [{ type: "text", text: "One, two, three," }] });
    const answer = textOf(await collect(begun));
    expect(answer).not.toBe("");
    expect(answer).not.toContain("One, two, three,");
  });

  it("stops at a stop word and leaves it out", async () => {
    const events = await collect(ask("Count: one, two, three", { stop: ["two"], maxTokens: 40 }));
    expect(textOf(events)).not.toContain("two");
  });
});

/**
 * How far a cut request still went is read from what its slot remembers: a follow-up that begins
 * with the same tokens finds them there as cached ones. A machine that is busy may keep this
 * process from reading in time, so the best of three tries counts.
 */
describe("a request that is cut", () => {
  const endless = { logitBias: { "0": -100, "2": -100 } };

  async function cachedIn(slot: number, request: GenerationRequest): Promise<number> {
    // With a seed the whole prompt is computed, and nothing would be told.
    const { seed: _, ...sampling } = request.sampling;
    for await (const event of loaded.generate(
      { ...request, sampling, maxTokens: 1 },
      slot,
      NEVER,
    )) {
      if (event.type === "start") return event.cachedTokens ?? 0;
    }
    throw new Error("it did not start");
  }

  /** Runs something beside a stream that goes on all the time, or alone. */
  async function beside(company: boolean, run: () => Promise<void>): Promise<void> {
    const control = new AbortController();
    const story = ask("Write a very long story.", {
      maxTokens: 6000,
      sampling: { seed: 2, ...endless },
    });
    const neighbour = loaded.generate(story, 3, control.signal)[Symbol.asyncIterator]();
    if (company) await neighbour.next();
    const reading = (async () => {
      while (company && !(await neighbour.next()).done);
    })();
    const cut = expect(company ? reading : Promise.reject(new Error("cancelled"))).rejects.toThrow(
      /cancelled/,
    );
    try {
      await run();
    } finally {
      control.abort();
      await cut;
    }
  }

  async function best(tries: () => Promise<number>): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let at = 0; at < 3 && least > 0; at++) least = Math.min(least, await tries());
    return least;
  }

  for (const company of [false, true]) {
    const where = company ? "beside another stream" : "alone";

    it(`frees its slot within two tokens while generating, ${where}`, async () => {
      const story = ask("Write a very long story about a lighthouse.", {
        maxTokens: 40,
        sampling: { temperature: 0, ...endless },
      });
      const whole = textOf(await collect(story, 2));
      const prompt = await loaded.count(story, NEVER);
      const followUp: GenerationRequest = {
        ...story,
        messages: [
          ...story.messages,
          { role: "assistant", parts: [{ type: "text", text: whole }] },
        ],
      };
      await beside(company, async () => {
        const tooMany = await best(async () => {
          const control = new AbortController();
          let seen = 0;
          const attempt = (async () => {
            for await (const event of loaded.generate(
              { ...story, maxTokens: 2000 },
              0,
              control.signal,
            )) {
              if (event.type === "text" && ++seen === 10) control.abort();
            }
          })();
          await expect(attempt).rejects.toMatchObject({ code: "cancelled" });
          const generated = (await cachedIn(0, followUp)) - prompt;
          expect(generated).toBeGreaterThan(0);
          return Math.max(0, generated - (seen + 2));
        });
        expect(tooMany).toBe(0);
      });
    });

    // The engine looks for its reader when it tells of a batch, and may have begun the next by then.
    it(`frees its slot within one batch after the one it computes, reading its prompt, ${where}`, async () => {
      await beside(company, async () => {
        let attempts = 0;
        const tooMany = await best(async () => {
          const request = ask(longText(`${company ? "alpha" : "beta"}${attempts++}x`, 500));
          const control = new AbortController();
          let seen = 0;
          const attempt = (async () => {
            for await (const event of loaded.generate(request, 1, control.signal)) {
              if (event.type !== "progress" || event.done < 2 * BATCH || control.signal.aborted)
                continue;
              seen = event.done;
              control.abort();
            }
          })();
          await expect(attempt).rejects.toMatchObject({ code: "cancelled" });
          expect(await loaded.count(request, NEVER)).toBeGreaterThan(8 * BATCH);
          const read = await cachedIn(1, request);
          expect(read).toBeGreaterThan(0);
          return Math.max(0, read - (seen + 2 * BATCH));
        });
        expect(tooMany).toBe(0);
      });
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
        if (event.type === "text" && pid > 0) process.kill(pid, "SIGKILL");
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
