import { expect, it } from "vitest";
import type { GenerationEvent } from "../../formats/index.js";
import { request, scheduling, scriptedEngine } from "../__fixtures__/scripted-engine.js";
import { type Outline, outlineOf, withAnswer } from "../state/outline.js";
import { Lease } from "./lease.js";

/** What a lease says the slot holds after these events. */
async function heldAfter(events: GenerationEvent[]): Promise<Outline | null | undefined> {
  const asked = request({ choices: 2 });
  const { engine } = scriptedEngine({
    async *generate() {
      yield* events;
    },
  });
  const { model } = scheduling(engine);
  const signal = new AbortController().signal;
  const plan = { ...model.plan, slots: 1, contextTokens: 4_096 };
  const loaded = await engine.load(model.spec, plan, () => {}, signal);
  let held: Outline | null | undefined;
  const lease = new Lease(
    "m",
    0,
    4_096,
    16,
    { previousTier: "tier1_gpu_vram", queueMs: 0, loadMs: 0, keptBytes: 0 },
    loaded,
    outlineOf(asked),
    {
      promptMeasured: () => {},
      output: () => {},
      next: () => {},
      failed: () => {},
      released: (outline) => {
        held = outline;
      },
    },
  );
  for await (const _ of lease.generate(asked, signal));
  lease.release();
  return held;
}

const prompt = outlineOf(request());

it("leaves the slot with the last of several choices", async () => {
  const held = await heldAfter([
    { type: "start", promptTokens: 5 },
    { type: "text", choice: 0, text: "One" },
    { type: "finish", choice: 0, reason: "stop" },
    { type: "text", choice: 1, text: "Two" },
    { type: "text", choice: 1, text: " more" },
    { type: "finish", choice: 1, reason: "stop" },
  ]);
  expect(held).toEqual(withAnswer(prompt, "Two more"));
});

it("leaves the slot with the prompt when nothing was answered, and as it was before a prompt was begun", async () => {
  expect(await heldAfter([{ type: "start" }])).toEqual(prompt);
  expect(await heldAfter([])).toBeNull();
});

it("leaves the slot with the calls that were answered, as a request brings them back", async () => {
  const call = { id: "c1", name: "add", arguments: '{"a":1}' };
  const held = await heldAfter([
    { type: "start", promptTokens: 5 },
    { type: "call", choice: 0, call },
    { type: "finish", choice: 0, reason: "tool_calls" },
  ]);
  const asked = request();
  const next = outlineOf({
    ...asked,
    messages: [...asked.messages, { role: "assistant", parts: [], calls: [call] }],
  });
  expect(held).toEqual(next);
});
