import type { MessagesEvent, Telemetry } from "@somnus/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GenerationEvent } from "../generation.js";
import { writeMessagesResponse, writeMessagesStream } from "./index.js";

const options = {
  head: { id: "msg_1", model: "m" },
  showThoughts: true,
  telemetry: () => ({}) as Telemetry,
};
const usage: GenerationEvent = {
  type: "usage",
  choice: 0,
  usage: { promptTokens: 9, cachedTokens: 4, completionTokens: 3 },
};
const text = (said: string): GenerationEvent => ({ type: "text", choice: 0, text: said });
const thought = (said: string): GenerationEvent => ({ type: "reasoning", choice: 0, text: said });
const call = (name: string): GenerationEvent => ({
  type: "call",
  choice: 0,
  call: { id: `call_${name}`, name, arguments: '{"a":1}' },
});
const finish = (reason: "stop" | "length" | "tool_calls", stop?: string): GenerationEvent[] => [
  { type: "finish", choice: 0, reason, ...(stop === undefined ? {} : { stop }) },
  usage,
];

async function* sent(events: GenerationEvent[]) {
  yield* events;
}

/** What a client sees of the events, a word each. */
async function outline(...events: GenerationEvent[]): Promise<string[]> {
  const words: string[] = [];
  for await (const event of writeMessagesStream(sent(events), options)) words.push(word(event));
  return words;
}

function word(event: MessagesEvent): string {
  switch (event.type) {
    case "content_block_start":
      return `${event.index}+${event.content_block.type}`;
    case "content_block_stop":
      return `${event.index}-`;
    case "content_block_delta": {
      const { type, ...said } = event.delta;
      return `${event.index}:${Object.values(said).join()}`;
    }
    case "message_delta":
      return `${event.delta.stop_reason}`;
    default:
      return event.type.replace("message_", "");
  }
}

describe("the blocks of an answer", () => {
  it("are thoughts, text and calls, each a block of its own", async () => {
    expect(
      await outline(
        thought("hm"),
        text("Let me"),
        text(" look."),
        call("a"),
        ...finish("tool_calls"),
      ),
    ).toEqual([
      "start",
      ...["0+thinking", "0:hm", "0:unsigned", "0-"],
      ...["1+text", "1:Let me", "1: look.", "1-"],
      ...["2+tool_use", '2:{"a":1}', "2-"],
      ...["tool_use", "stop"],
    ]);
  });

  it("follow each other when the model thinks after it has spoken", async () => {
    expect(await outline(text("So"), thought("hm"), text("Yes"), ...finish("stop"))).toEqual([
      "start",
      ...["0+text", "0:So", "0-"],
      ...["1+thinking", "1:hm", "1:unsigned", "1-"],
      ...["2+text", "2:Yes", "2-"],
      ...["end_turn", "stop"],
    ]);
  });

  it("are none of white space between others, and all of it before a text", async () => {
    expect(
      await outline(
        thought("hm"),
        text("\n\n"),
        call("a"),
        text("\n"),
        call("b"),
        ...finish("tool_calls"),
      ),
    ).toEqual([
      "start",
      ...["0+thinking", "0:hm", "0:unsigned", "0-"],
      ...["1+tool_use", '1:{"a":1}', "1-"],
      ...["2+tool_use", '2:{"a":1}', "2-"],
      ...["tool_use", "stop"],
    ]);
    expect(await outline(text("\n"), text(" "), text("x"), ...finish("stop"))).toEqual([
      ...["start", "0+text", "0:\n x", "0-", "end_turn", "stop"],
    ]);
  });

  it("are white space where that is all of the answer, and none where there is nothing", async () => {
    expect(await outline(text("\n"), text("\n"), ...finish("length"))).toEqual([
      ...["start", "0+text", "0:\n\n", "0-", "max_tokens", "stop"],
    ]);
    expect(await outline(text(""), thought(""), ...finish("stop"))).toEqual([
      ...["start", "end_turn", "stop"],
    ]);
  });

  it("are never open beside each other, and hold all that was said, whatever comes", async () => {
    const piece = fc.oneof(
      fc.constantFrom("", " ", "\n", "a", "b c").map(text),
      fc.constantFrom("", "t", " u").map(thought),
      fc.constantFrom("x", "y").map(call),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        let open: number | null = null;
        let next = 0;
        let empty = false;
        const events = [...pieces, ...finish("stop")];
        for await (const event of writeMessagesStream(sent(events), options)) {
          if (event.type === "content_block_start") {
            expect(open).toBeNull();
            expect(event.index).toBe(next++);
            open = event.index;
            empty = true;
          } else if (event.type === "content_block_delta") {
            expect(event.index).toBe(open);
            empty = false;
          } else if (event.type === "content_block_stop") {
            expect(event.index).toBe(open);
            expect(empty).toBe(false);
            open = null;
          }
        }
        const whole = await writeMessagesResponse(sent(events), options);
        const said = whole.content.map((block) => (block.type === "text" ? block.text : ""));
        const asked = pieces.map((event) => (event.type === "text" ? event.text : ""));
        expect(said.join("").replace(/\s/g, "")).toBe(asked.join("").replace(/\s/g, ""));
        const calls = whole.content.filter((block) => block.type === "tool_use");
        expect(calls).toHaveLength(pieces.filter((event) => event.type === "call").length);
      }),
    );
  });
});

describe("why an answer ended", () => {
  it.each([
    ["stop", undefined, { stop_reason: "end_turn", stop_sequence: null }],
    ["stop", "END", { stop_reason: "stop_sequence", stop_sequence: "END" }],
    ["length", undefined, { stop_reason: "max_tokens", stop_sequence: null }],
    ["tool_calls", undefined, { stop_reason: "tool_use", stop_sequence: null }],
  ] as const)("is told: %s %s", async (reason, stop, told) => {
    const answer = await writeMessagesResponse(sent([text("x"), ...finish(reason, stop)]), options);
    expect(answer).toMatchObject(told);
  });

  it("must be known", async () => {
    await expect(writeMessagesResponse(sent([text("x")]), options)).rejects.toMatchObject({
      code: "engine_failed",
    });
  });
});

describe("the usage of an answer", () => {
  it("counts cached tokens apart, and is there at the start where the engine told it then", async () => {
    const events = sent([
      { type: "start", promptTokens: 9, cachedTokens: 4 },
      { type: "progress", promptTokens: 9, cachedTokens: 4, done: 9 },
      text("x"),
      ...finish("stop"),
    ]);
    const told: unknown[] = [];
    for await (const event of writeMessagesStream(events, options)) {
      if (event.type === "message_start") told.push(event.message.usage);
      if (event.type === "message_delta") told.push(event.usage);
    }
    const prompt = { input_tokens: 5, cache_read_input_tokens: 4, cache_creation_input_tokens: 0 };
    expect(told).toEqual([
      { ...prompt, output_tokens: 0 },
      { ...prompt, output_tokens: 3 },
    ]);
  });
});
