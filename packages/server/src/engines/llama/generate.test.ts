import { getEventListeners } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createFakeEngine, type FakeEngine } from "../../../test/fake-engine/index.js";
import type { GenerationEvent, GenerationRequest } from "../../formats/index.js";
import type { GgufSummary } from "../../gguf/index.js";
import { createLog } from "../../observe/index.js";
import type { Loaded } from "../engine.js";
import { requestOf } from "./__fixtures__/request.js";
import { createLlamaEngine } from "./index.js";

const STALL_MS = 1000;

let fake: FakeEngine;
let runtimeDir: string;
let loaded: Loaded;

async function loadFake(): Promise<Loaded> {
  const engine = createLlamaEngine({
    binary: async () => ({ path: fake.path, version: "11434" }),
    threads: 1,
    runtimeDir,
    stallMs: STALL_MS,
    loadTimeoutMs: 20_000,
    log: createLog("silent"),
  });
  return engine.load(
    { id: "m", weightsPath: "/models/m.gguf", gguf: {} as GgufSummary },
    { slots: 2, contextTokens: 2048, gpuLayers: 0, cpuExpertLayers: 0 },
    () => {},
    new AbortController().signal,
  );
}

function ask(text: string, more: Partial<GenerationRequest> = {}): GenerationRequest {
  return requestOf(text, { maxTokens: 1000, ...more });
}

async function collect(
  request: GenerationRequest,
  signal: AbortSignal = new AbortController().signal,
  slot = 0,
): Promise<GenerationEvent[]> {
  const events: GenerationEvent[] = [];
  for await (const event of loaded.generate(request, slot, signal)) events.push(event);
  return events;
}

const textOf = (events: GenerationEvent[], choice = 0) =>
  events.map((e) => (e.type === "text" && e.choice === choice ? e.text : "")).join("");

const windows = process.platform === "win32";

describe.skipIf(windows)("a generation", () => {
  beforeAll(async () => {
    runtimeDir = await mkdtemp(join(tmpdir(), "run-"));
    fake = await createFakeEngine();
    loaded = await loadFake();
  });
  afterAll(async () => {
    await loaded.close("now");
    await fake.dispose();
    await rm(runtimeDir, { recursive: true, force: true });
  });
  beforeEach(() => fake.script({}));

  it("starts, reads the prompt, answers, finishes and counts", async () => {
    const events = await collect(ask("[[say:one two three]]"));
    const kinds = events.map((event) => event.type);
    expect(kinds[0]).toBe("start");
    expect(kinds.filter((kind) => kind === "progress").length).toBeGreaterThanOrEqual(2);
    expect(kinds.slice(-2)).toEqual(["finish", "usage"]);
    expect(textOf(events)).toBe("one two three");
    const usage = events.at(-1);
    expect(usage).toMatchObject({ usage: { completionTokens: 3 } });
    const counted = await loaded.count(ask("[[say:one two three]]"), new AbortController().signal);
    expect(usage).toMatchObject({ usage: { promptTokens: counted } });
  });

  it("gives one choice after the other, each with its usage, in the same slot", async () => {
    const events = await collect(
      ask("[[say:a b]]", { choices: 2, sampling: { seed: 5 } }),
      undefined,
      1,
    );
    expect(textOf(events, 0)).toBe("a b");
    expect(textOf(events, 1)).toBe("a b");
    expect(events.filter((event) => event.type === "start")).toHaveLength(1);
    expect(events.flatMap((e) => (e.type === "usage" ? [e.choice] : []))).toEqual([0, 1]);
    const bodies = (await fake.journal()).filter((e) => e.event === "request").slice(-2);
    expect(bodies.map((e) => e.body?.seed)).toEqual([5, 6]);
    expect(bodies.map((e) => e.slot)).toEqual([1, 1]);
  });

  it("ends at the token limit", async () => {
    const events = await collect(ask("[[tokens:50]]", { maxTokens: 4 }));
    expect(events).toContainEqual({ type: "finish", choice: 0, reason: "length" });
  });

  it.each([
    ["while it generates", "[[tokens:500]] [[rate:100]]", "text"],
    ["while it reads the prompt", `[[hang:prefill]] ${"word ".repeat(300)}`, "progress"],
  ] as const)("stops at the engine when its signal fires %s", async (_when, prompt, until) => {
    const control = new AbortController();
    const before = (await fake.journal()).length;
    const attempt = (async () => {
      for await (const event of loaded.generate(ask(prompt), 0, control.signal)) {
        if (event.type === until) control.abort(new Error("client left"));
      }
    })();
    await expect(attempt).rejects.toMatchObject({ code: "cancelled" });
    const left = await fake.happened((event) => event.event === "disconnect", before);
    expect(left.tokens).toBeLessThan(10);
  });

  it("stops at the engine when its reader leaves", async () => {
    const before = (await fake.journal()).length;
    for await (const event of loaded.generate(
      ask("[[tokens:500]] [[rate:100]]"),
      0,
      new AbortController().signal,
    )) {
      if (event.type === "text") break;
    }
    const left = await fake.happened((event) => event.event === "disconnect", before);
    expect(left.tokens).toBeLessThan(10);
  });

  it("does not begin when its signal has fired", async () => {
    const before = (await fake.journal()).length;
    await expect(collect(ask("x"), AbortSignal.abort())).rejects.toMatchObject({
      code: "cancelled",
    });
    expect((await fake.journal()).slice(before)).toEqual([]);
  });

  it.each(["[[hang:request]]", "[[hang:prefill]]", "[[tokens:9]] [[hang:4]]"])(
    "gives up on a silent engine: %s",
    async (prompt) => {
      const before = (await fake.journal()).length;
      await expect(collect(ask(prompt))).rejects.toMatchObject({ code: "engine_timeout" });
      await fake.happened((event) => event.event === "disconnect", before);
      expect((await fake.journal()).slice(before).some((e) => e.event === "finish")).toBe(false);
    },
  );

  it("does not take a slow reader for a silent engine, and slows the engine down", async () => {
    await fake.script({ answer: " word".repeat(60_000) });
    const before = (await fake.journal()).length;
    const events = loaded
      .generate(ask("x", { maxTokens: 60_000 }), 0, new AbortController().signal)
      [Symbol.asyncIterator]();
    let text = "";
    const take = (event: GenerationEvent) => {
      if (event.type === "text") text += event.text;
    };
    for (let at = 0; at < 10; at++) take((await events.next()).value as GenerationEvent);
    await fake.happened((event) => event.event === "full", before);
    await new Promise((resolve) => setTimeout(resolve, STALL_MS * 1.5));
    expect((await fake.journal()).slice(before).some((e) => e.event === "finish")).toBe(false);
    for (let next = await events.next(); !next.done; next = await events.next()) take(next.value);
    expect(text.length).toBe(" word".length * 60_000);
  });

  it.each([
    ["json", "engine_failed"],
    ["half-event", "engine_failed"],
    ["close", "engine_failed"],
    ["error-event", "engine_failed"],
    ["http-500", "engine_failed"],
    ["exceed-context", "context_length_exceeded"],
  ])("makes a clear error of a lie: %s", async (lie, code) => {
    const error = await collect(ask(`[[tokens:9]] [[lie:${lie}]]`)).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ name: "SomnusError", code });
    expect((error as Error).message).not.toMatch(/build\/|\.cpp/);
  });

  it.each(["utf8", "usage"])("lives with a smaller lie: %s", async (lie) => {
    const events = await collect(ask(`[[tokens:9]] [[lie:${lie}]]`));
    expect(events).toContainEqual({ type: "finish", choice: 0, reason: "stop" });
  });

  it("refuses a prompt longer than the context with both numbers", async () => {
    const attempt = collect(ask("word ".repeat(3000)));
    await expect(attempt).rejects.toMatchObject({ code: "context_length_exceeded" });
    await expect(attempt).rejects.toThrow(/\d{4} tokens.*2048/);
  });

  it("leaves nothing on the signal of a long-lived caller", async () => {
    const control = new AbortController();
    for (let at = 0; at < 20; at++) await collect(ask("[[say:a]]"), control.signal);
    await loaded.tokenize(["a"], control.signal);
    await loaded.count(ask("a"), control.signal);
    await collect(ask("[[lie:http-500]]"), control.signal).catch(() => {});
    expect(getEventListeners(control.signal, "abort")).toHaveLength(0);
  });

  it("answers several slots at once", async () => {
    const both = await Promise.all([
      collect(ask("[[say:left]]"), undefined, 0),
      collect(ask("[[say:right]]"), undefined, 1),
    ]);
    expect(both.map((events) => textOf(events))).toEqual(["left", "right"]);
  });
});

describe.skipIf(windows)("the end of an engine", () => {
  beforeEach(async () => {
    runtimeDir = await mkdtemp(join(tmpdir(), "run-"));
    fake = await createFakeEngine();
    loaded = await loadFake();
  });
  afterEach(async () => {
    await loaded.close("now");
    await fake.dispose();
    await rm(runtimeDir, { recursive: true, force: true });
  });

  it.each([
    ["before the answer", "[[die:prefill]]", "engine_failed", /SIGKILL/],
    ["in the middle of it", "[[tokens:9]] [[die:4]]", "engine_failed", /SIGKILL/],
    ["for want of memory", "[[tokens:9]] [[oom]]", "device_out_of_memory", /memory/],
  ])("is told to its requests: %s", async (_when, prompt, code, message) => {
    const error = await collect(ask(prompt)).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "SomnusError", code });
    expect((error as Error).message).toMatch(message);
    expect((await loaded.exited).kind).not.toBe("closed");
    await expect(collect(ask("again"))).rejects.toMatchObject({ code });
  });

  it("is told as an unload when we closed it", async () => {
    const attempt = collect(ask("[[tokens:500]] [[rate:50]]"));
    const outcome = expect(attempt).rejects.toMatchObject({ code: "engine_failed" });
    await fake.happened((event) => event.event === "request");
    await loaded.close("now");
    await outcome;
    await expect(attempt).rejects.toThrow(/unloaded/);
  });
});
