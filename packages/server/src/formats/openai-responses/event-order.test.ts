import type { ResponsesEvent } from "@somnus/contract";
import { ResponsesEvent as EventSchema } from "@somnus/contract";
import { accumulateResponse } from "openai/lib/responses/ResponseAccumulator";
import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses";
import Value from "typebox/value";
import { describe, expect, it } from "vitest";
import type { GenerationEvent } from "../generation.js";
import { USAGE, written } from "./__fixtures__/written.js";

const text = (piece: string): GenerationEvent => ({ type: "text", choice: 0, text: piece });
const thought = (piece: string): GenerationEvent => ({ type: "reasoning", choice: 0, text: piece });
const call = (id: string): GenerationEvent => ({
  type: "call",
  choice: 0,
  call: { id, name: "add", arguments: '{"a":1}' },
});
const finish = (reason: "stop" | "length" | "tool_calls"): GenerationEvent => ({
  type: "finish",
  choice: 0,
  reason,
});

const TEXT = [
  "response.output_item.added",
  "response.content_part.added",
  "response.output_text.delta",
  "response.output_text.delta",
  "response.output_text.done",
  "response.content_part.done",
  "response.output_item.done",
];
const CALL = [
  "response.output_item.added",
  "response.function_call_arguments.delta",
  "response.function_call_arguments.done",
  "response.output_item.done",
];

/** What the OpenAI SDK makes of the events. */
function joined(events: readonly ResponsesEvent[]): Response {
  let snapshot: Response | undefined;
  for (const event of events) {
    snapshot = accumulateResponse(event as unknown as ResponseStreamEvent, snapshot);
  }
  return snapshot as Response;
}

describe("the events of a response", () => {
  const cases: [string, GenerationEvent[], object, string[], string][] = [
    [
      "a text",
      [{ type: "start" }, text("One "), text("two"), finish("stop"), USAGE],
      {},
      TEXT,
      "completed",
    ],
    [
      "a text that was cut",
      [text("One "), text("two"), finish("length"), USAGE],
      {},
      TEXT,
      "incomplete",
    ],
    [
      "two calls after a text",
      [text("One "), text("two"), call("a"), call("b"), finish("tool_calls"), USAGE],
      {},
      [...TEXT, ...CALL, ...CALL],
      "completed",
    ],
    [
      "thoughts before a text",
      [thought("Hm"), text("One "), text("two"), finish("stop"), USAGE],
      { reasoning: { effort: "low" } },
      [
        "response.output_item.added",
        "response.content_part.added",
        "response.reasoning_text.delta",
        "response.reasoning_text.done",
        "response.content_part.done",
        "response.output_item.done",
        ...TEXT,
      ],
      "completed",
    ],
    [
      "thoughts in the place of their summary",
      [thought("Hm"), call("a"), finish("tool_calls"), USAGE],
      { reasoning: { summary: "auto" } },
      [
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        ...CALL,
      ],
      "completed",
    ],
    [
      "thoughts that nobody asked for",
      [thought("Hm"), text("One "), text("two"), finish("stop"), USAGE],
      {},
      TEXT,
      "completed",
    ],
    [
      "nothing",
      [finish("stop"), USAGE],
      {},
      TEXT.filter((type) => !type.endsWith("delta")),
      "completed",
    ],
  ];

  it.each(cases)("of %s stand in order, numbered", async (_, events, body, between, end) => {
    const all = (await written(events, body)).events;
    expect(all.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      ...between,
      `response.${end}`,
    ]);
    expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((__, i) => i));
    for (const event of all) {
      // The telemetry is made up here.
      const bare = JSON.parse(JSON.stringify(event));
      if (bare.response) delete bare.response.hypnos_telemetry;
      expect([...Value.Errors(EventSchema, bare)].slice(0, 2)).toEqual([]);
    }
  });

  it.each(cases)(
    "of %s are joined by the OpenAI SDK to what the last one says",
    async (_, events, body) => {
      const { events: all, response } = await written(events, body);
      const built = joined(all.slice(0, -1));
      expect(built.output).toEqual(response.output);
      expect(joined(all)).toMatchObject({ status: response.status, usage: response.usage });
    },
  );
});
