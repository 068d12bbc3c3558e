import { afterEach, describe, expect, it } from "vitest";
import { request, scheduling, scriptedEngine } from "../__fixtures__/scripted-engine.js";
import { generationWork, inputsWork, roundTokens, TOKENIZER_WORK } from "./work.js";

const NEVER = new AbortController().signal;
const options = { keepAliveMs: null, signal: NEVER };
const terms = { contextTokens: 512, maxContextTokens: 512, slots: 4 };

describe("a round", () => {
  it("holds all inputs up to a share, and the longest in any case", () => {
    expect(roundTokens([10, 20], 128)).toBe(30);
    expect(roundTokens(Array(100).fill(10), 128)).toBe(128);
    expect(roundTokens([10, 400, 30], 128)).toBe(400);
  });
});

describe("the need of inputs", () => {
  it("is one round, never more than the context, and nothing to generate", () => {
    expect(inputsWork([10, 20], terms).need).toEqual({
      promptBound: 30,
      promptTokens: 30,
      maxTokens: 0,
    });
    expect(inputsWork(Array(2048).fill(40), terms).need).toMatchObject({
      promptBound: 81_920,
      promptTokens: 128,
    });
    expect(inputsWork([9_000], terms).need.promptTokens).toBe(512);
  });
});

describe("a scheduler", () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  function started() {
    const { scheduler, model } = scheduling(scriptedEngine().engine);
    closing.push(() => scheduler.close());
    return { scheduler, model: { ...model, terms: { ...model.terms, ...terms } } };
  }

  it("lets few inputs in beside many", async () => {
    const { scheduler, model } = started();
    const many = await scheduler.admitWork(model, inputsWork(Array(2048).fill(40), terms), options);
    const few = await scheduler.admitWork(model, inputsWork([40], terms), options);
    expect([many.contextTokens, few.contextTokens]).toEqual([128, 128]);
    many.release();
    few.release();
  });

  it("takes inputs that fill the context to the last token", async () => {
    const { scheduler, model } = started();
    const lease = await scheduler.admitWork(model, inputsWork([512], terms), options);
    expect(lease.contextTokens).toBe(512);
    lease.release();
  });

  it("gives what inputs turn out not to need to who waits", async () => {
    const { scheduler, model } = started();
    const first = await scheduler.admitWork(model, inputsWork([500], terms), options);
    const waiting = scheduler.admitWork(model, inputsWork([400], terms), options);
    const { activeLeases, queued } = scheduler.activity(model.terms.id);
    expect([activeLeases, queued]).toEqual([1, 1]);
    first.needs(50);
    const second = await waiting;
    first.release();
    second.release();
  });

  it("asks a tokenizer without any of the context, also beside a request that has it all", async () => {
    const { scheduler, model } = started();
    const all = await scheduler.admitWork(model, inputsWork([512], terms), options);
    const asking = await scheduler.admitWork(model, TOKENIZER_WORK, options);
    expect(asking.contextTokens).toBe(0);
    asking.release();
    all.release();
  });

  it("does not learn from questions to a tokenizer how long requests take", async () => {
    const { scheduler, model } = started();
    const asking = await scheduler.admitWork(model, TOKENIZER_WORK, options);
    await asking.tokenize(["a"], NEVER);
    asking.release();
    expect(scheduler.serviceTimes()).toEqual([]);
  });

  it("has the engine count a conversation", async () => {
    const work = generationWork(request());
    const loaded = { count: async () => 7 } as unknown as Parameters<
      NonNullable<typeof work.count>
    >[0];
    expect(await work.count!(loaded, NEVER)).toBe(7);
  });
});
